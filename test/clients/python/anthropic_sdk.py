# Anthropic's own library for Python, without and with thinking.
from anthropic import Anthropic
from pydantic import BaseModel

from stage import KEY, PARAMETERS, PROMPTS, URL, failures, lookup, play


class Person(BaseModel):
    name: str
    age: int


def client(key=KEY):
    return Anthropic(base_url=URL, api_key=key, max_retries=0)


TOOL = {"name": "lookup", "description": "What there is to know about a place", "input_schema": PARAMETERS}


def request(model, prompt):
    return {"model": model, "max_tokens": 4000, "messages": [{"role": "user", "content": prompt}]}


def stream(model, prompt=PROMPTS["stream"], **more):
    with client().messages.stream(**request(model, prompt), **more) as events:
        pieces = list(events.text_stream)
        usage = events.get_final_message().usage
    return {"text": "".join(pieces), "pieces": len(pieces), "input": usage.input_tokens, "output": usage.output_tokens}


def tools(model, **more):
    body = {**request(model, PROMPTS["tools"]), "tools": [TOOL], **more}
    for turn in range(9):
        if turn % 2 == 0:
            message = client().messages.create(**body)
        else:
            with client().messages.stream(**body) as events:
                message = events.get_final_message()
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": lookup(**block.input)}
            for block in message.content
            if block.type == "tool_use"
        ]
        if not results:
            return {"text": "".join(block.text for block in message.content if block.type == "text")}
        body["messages"] = [
            *body["messages"],
            {"role": "assistant", "content": message.content},
            {"role": "user", "content": results},
        ]


def structured(model):
    answer = client().messages.parse(**request(model, PROMPTS["object"]), output_format=Person)
    return {"object": answer.parsed_output.model_dump()}


def error(model):
    def ask(prompt="Hello", key=KEY, model=model):
        return client(key).messages.create(**request(model, prompt))

    return failures(
        {
            "refused": lambda: ask(PROMPTS["refused"]),
            "overloaded": lambda: ask(PROMPTS["overloaded"]),
            "midway": lambda: stream(model, PROMPTS["midway"]),
            "key": lambda: ask(key="tg_live_wrong"),
            "model": lambda: ask(model="no-such-model"),
        }
    )


THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2000}}

play("anthropic-python", "claude", "anthropic", {"stream": stream, "tools": tools, "object": structured, "error": error})
play("anthropic-python, thinking", "claude", "anthropic",
    {
        "stream": lambda model: stream(model, **THINKING),
        "tools": lambda model: tools(model, **THINKING),
        "object": structured,
        "error": error,
    },
)
