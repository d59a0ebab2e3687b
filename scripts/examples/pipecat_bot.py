"""A Pipecat bot that sends its calls to Callbook while they happen, and answers from its knowledge.
Set CALLBOOK_URL, CALLBOOK_INGEST_KEY (an ingest key) and CALLBOOK_SEARCH_KEY (an API key of the scope `search`)."""
import asyncio, re, time
from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
