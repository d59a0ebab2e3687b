"""A LangChain retriever over a project's knowledge. Needs langchain-core; copy it into your program."""

import json
import urllib.request

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever


class CallbookRetriever(BaseRetriever):
    """Answers with the passages that Callbook finds, best first."""

    url: str
    """Where the service is, such as http://127.0.0.1:3000."""
    key: str
    """An API key; one with the scope `search` is enough."""
    limit: int = 5
    coverage_min: float = 0.0
    """Below this coverage nothing is found, so that an agent can say that it does not know."""
    timeout_seconds: float = 5.0

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        body = json.dumps({"query": query, "limit": self.limit}).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/v1/knowledge/search", body, headers)
        with urllib.request.urlopen(request, timeout=self.timeout_seconds) as response:
            answer = json.load(response)
        if (answer["coverage"] or 0) < self.coverage_min:
            return []
        return [
            Document(
                page_content=hit["text"],
                metadata={"id": hit["itemId"], "name": hit["name"], "heading": hit["heading"], "score": hit["score"]},
            )
            for hit in answer["data"]
        ]
