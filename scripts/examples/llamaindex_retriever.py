"""A LlamaIndex retriever over a project's knowledge. Needs llama-index-core; copy it into your program."""

import asyncio
import json
import urllib.request

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode


class CallbookRetriever(BaseRetriever):
    """Answers with the passages that Callbook finds, best first."""

    def __init__(self, url: str, key: str, limit: int = 5, coverage_min: float = 0.0, timeout_seconds: float = 5.0) -> None:
        """
        :param url: where the service is, such as http://127.0.0.1:3000
        :param key: an API key; one with the scope `search` is enough
        :param coverage_min: below this coverage nothing is found, so that an agent can say that it does not know
        """
        super().__init__()
        self._url = url
        self._key = key
        self._limit = limit
        self._coverage_min = coverage_min
        self._timeout_seconds = timeout_seconds

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        body = json.dumps({"query": query_bundle.query_str, "limit": self._limit}).encode()
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._url}/v1/knowledge/search", body, headers)
        with urllib.request.urlopen(request, timeout=self._timeout_seconds) as response:
            answer = json.load(response)
        if (answer["coverage"] or 0) < self._coverage_min:
            return []
        return [
            NodeWithScore(
                node=TextNode(
                    id_=f"{hit['itemId']}:{hit['position']}",
                    text=hit["text"],
                    metadata={"item": hit["itemId"], "name": hit["name"], "heading": hit["heading"]},
                ),
                score=hit["score"],
            )
            for hit in answer["data"]
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # The base class would wait for the answer on the event loop.
        return await asyncio.to_thread(self._retrieve, query_bundle)
