# OpenAI's own library for Python: chat completions and responses.
import json

from openai import OpenAI
from pydantic import BaseModel

from stage import KEY, PARAMETERS, PROMPTS, URL, failures, lookup, play


class Person(BaseModel):
    name: str
    age: int


def client(key=KEY):
    return OpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0)


TOOL = {"name": "lookup", "description": "What there is to know about a place", "parameters": PARAMETERS, "strict": True}


# Chat completions


def user(prompt):
    return [{"role": "user", "content": prompt}]


def chat_stream(model, prompt=PROMPTS["stream"], key=KEY):
    pieces, usage = [], None
    stream = client(key).chat.completions.create(
        model=model, messages=user(prompt), stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        pieces += [choice.delta.content for choice in chunk.choices if choice.delta.content]
    return {"text": "".join(pieces), "pieces": len(pieces), "input": usage.prompt_tokens, "output": usage.completion_tokens}


def chat_tools(model):
    messages = user(PROMPTS["tools"])
    tools = [{"type": "function", "function": TOOL}]
    for turn in range(9):
        if turn % 2 == 0:
            message = client().chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
        else:
            with client().chat.completions.stream(model=model, messages=messages, tools=tools) as stream:
                message = stream.get_final_completion().choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return {"text": message.content}
        for call in message.tool_calls:
            result = lookup(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def chat_object(model):
    answer = client().chat.completions.parse(model=model, messages=user(PROMPTS["object"]), response_format=Person)
    return {"object": answer.choices[0].message.parsed.model_dump()}


def chat_error(model):
    def ask(prompt="Hello", key=KEY, model=model):
        return client(key).chat.completions.create(model=model, messages=user(prompt))

    return failures(
        {
            "refused": lambda: ask(PROMPTS["refused"]),
            "overloaded": lambda: ask(PROMPTS["overloaded"]),
            "midway": lambda: chat_stream(model, PROMPTS["midway"]),
            "key": lambda: ask(key="tg_live_wrong"),
            "model": lambda: ask(model="no-such-model"),
        }
    )


play("openai-python, chat", "gpt", "openai", {"stream": chat_stream, "tools": chat_tools, "object": chat_object, "error": chat_error})


# Responses


def responses_stream(model, prompt=PROMPTS["stream"], key=KEY):
    pieces = []
    with client(key).responses.stream(model=model, input=prompt) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                pieces.append(event.delta)
            if event.type in ("error", "response.failed"):
                raise RuntimeError(event.to_json())
        usage = stream.get_final_response().usage
    return {"text": "".join(pieces), "pieces": len(pieces), "input": usage.input_tokens, "output": usage.output_tokens}


def responses_tools(model):
    # Once with the whole conversation in every request, as with zero data retention, once with the gateway's memory.
    texts = [tools_by_hand(model), tools_by_id(model)]
    return {"text": texts[0] if texts[0] == texts[1] else str(texts)}


def tools_by_hand(model):
    items = user(PROMPTS["tools"])
    tools = [{"type": "function", **TOOL}]
    more = {"store": False, "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}}
    for turn in range(9):
        if turn % 2 == 0:
            response = client().responses.create(model=model, input=items, tools=tools, **more)
        else:
            with client().responses.stream(model=model, input=items, tools=tools, **more) as stream:
                response = stream.get_final_response()
        items += response.output
        results = outputs_of(response)
        if not results:
            return response.output_text
        items += results


def tools_by_id(model):
    last, given = None, user(PROMPTS["tools"])
    tools = [{"type": "function", **TOOL}]
    for _ in range(9):
        response = client().responses.create(model=model, input=given, tools=tools, previous_response_id=last)
        last, given = response.id, outputs_of(response)
        if not given:
            return response.output_text


def outputs_of(response):
    return [
        {"type": "function_call_output", "call_id": item.call_id, "output": lookup(**json.loads(item.arguments))}
        for item in response.output
        if item.type == "function_call"
    ]


def responses_object(model):
    answer = client().responses.parse(model=model, input=PROMPTS["object"], text_format=Person)
    return {"object": answer.output_parsed.model_dump()}


def responses_error(model):
    def ask(prompt="Hello", key=KEY, model=model):
        return client(key).responses.create(model=model, input=prompt)

    return failures(
        {
            "refused": lambda: ask(PROMPTS["refused"]),
            "overloaded": lambda: ask(PROMPTS["overloaded"]),
            "midway": lambda: responses_stream(model, PROMPTS["midway"]),
            "key": lambda: ask(key="tg_live_wrong"),
            "model": lambda: ask(model="no-such-model"),
        }
    )


play("openai-python, responses", "gpt", "openai",
    {"stream": responses_stream, "tools": responses_tools, "object": responses_object, "error": responses_error},
)
