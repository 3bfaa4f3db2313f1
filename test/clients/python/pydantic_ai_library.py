# Pydantic AI with each of its models.
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from stage import KEY, PROMPTS, URL, failures, lookup, play


class Person(BaseModel):
    name: str
    age: int


def openai(key):
    return OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0))


def chat(model, key=KEY):
    return OpenAIChatModel(model, provider=openai(key))


def responses(model, key=KEY):
    return OpenAIResponsesModel(model, provider=openai(key))


def messages(model, key=KEY):
    client = AsyncAnthropic(base_url=URL, api_key=key, max_retries=0)
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))


def scenes(make):
    def stream(model, prompt=PROMPTS["stream"]):
        result = Agent(make(model)).run_stream_sync(prompt)
        pieces = list(result.stream_text(delta=True, debounce_by=None))
        usage = result.usage() if callable(result.usage) else result.usage
        return {"text": "".join(pieces), "pieces": len(pieces), "input": usage.input_tokens, "output": usage.output_tokens}

    def tools(model):
        agent = Agent(make(model), tools=[lookup])
        whole = agent.run_sync(PROMPTS["tools"]).output
        streamed = "".join(agent.run_stream_sync(PROMPTS["tools"]).stream_text(delta=True, debounce_by=None))
        return {"text": whole if whole == streamed else f"{whole} / {streamed}"}

    def structured(model):
        by_tool = Agent(make(model), output_type=ToolOutput(Person)).run_sync(PROMPTS["object"]).output
        native = Agent(make(model), output_type=NativeOutput(Person)).run_sync(PROMPTS["object"]).output
        assert by_tool == native, (by_tool, native)
        return {"object": native.model_dump()}

    def error(model):
        return failures(
            {
                "refused": lambda: Agent(make(model)).run_sync(PROMPTS["refused"]),
                "overloaded": lambda: Agent(make(model)).run_sync(PROMPTS["overloaded"]),
                "midway": lambda: stream(model, PROMPTS["midway"]),
                "key": lambda: Agent(make(model, "tg_live_wrong")).run_sync("Hello"),
                "model": lambda: Agent(make("no-such-model")).run_sync("Hello"),
            }
        )

    return {"stream": stream, "tools": tools, "object": structured, "error": error}


play("pydantic-ai, chat", "gpt", "pydantic-ai", scenes(chat))
play("pydantic-ai, responses", "gpt", "pydantic-ai", scenes(responses))
play("pydantic-ai, messages", "claude", "pydantic-ai", scenes(messages))
