# OpenAI's agents library with both of its models.
import asyncio

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from pydantic import BaseModel

from stage import KEY, PROMPTS, URL, failures, lookup, play

set_tracing_disabled(True)


class Person(BaseModel):
    name: str
    age: int


def client(key):
    return AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0)


def chat(model, key=KEY):
    return OpenAIChatCompletionsModel(model, client(key))


def responses(model, key=KEY):
    return OpenAIResponsesModel(model, client(key))


def scenes(make):
    def run(model, prompt, **more):
        return asyncio.run(Runner.run(Agent("tester", model=model, **more), prompt))

    async def streamed(model, prompt, **more):
        result = Runner.run_streamed(Agent("tester", model=model, model_settings=ModelSettings(include_usage=True), **more), prompt)
        pieces = []
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                pieces.append(event.data.delta)
        return result, pieces

    def stream(model, prompt=PROMPTS["stream"]):
        result, pieces = asyncio.run(streamed(make(model), prompt))
        usage = result.context_wrapper.usage
        return {"text": result.final_output, "pieces": len(pieces), "input": usage.input_tokens, "output": usage.output_tokens}

    def tools(model):
        whole = run(make(model), PROMPTS["tools"], tools=[function_tool(lookup)]).final_output
        result, _ = asyncio.run(streamed(make(model), PROMPTS["tools"], tools=[function_tool(lookup)]))
        return {"text": whole if whole == result.final_output else f"{whole} / {result.final_output}"}

    def structured(model):
        return {"object": run(make(model), PROMPTS["object"], output_type=Person).final_output.model_dump()}

    def error(model):
        return failures(
            {
                "refused": lambda: run(make(model), PROMPTS["refused"]),
                "overloaded": lambda: run(make(model), PROMPTS["overloaded"]),
                "midway": lambda: stream(model, PROMPTS["midway"]),
                "key": lambda: run(make(model, "tg_live_wrong"), "Hello"),
                "model": lambda: run(make("no-such-model"), "Hello"),
            }
        )

    return {"stream": stream, "tools": tools, "object": structured, "error": error}


play("openai-agents, chat", "gpt", "openai-agents", scenes(chat))
play("openai-agents, responses", "gpt", "openai-agents", scenes(responses))
