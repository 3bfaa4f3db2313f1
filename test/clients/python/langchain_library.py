# LangChain for Python: its agent over each of its classes.
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from stage import KEY, PROMPTS, URL, failures, lookup, play


class Person(BaseModel):
    """A person"""

    name: str
    age: int


def chat(model, key=KEY):
    return ChatOpenAI(model=model, base_url=f"{URL}/v1", api_key=key, max_retries=0, stream_usage=True, use_responses_api=False)


def responses(model, key=KEY):
    return ChatOpenAI(model=model, base_url=f"{URL}/v1", api_key=key, max_retries=0, use_responses_api=True)


def messages(model, key=KEY):
    return ChatAnthropic(model=model, base_url=URL, api_key=key, max_retries=0, max_tokens=4000)


def scenes(make):
    def stream(model, prompt=PROMPTS["stream"]):
        whole, pieces = None, 0
        for chunk in make(model).stream(prompt):
            whole = chunk if whole is None else whole + chunk
            pieces += 1 if chunk.text else 0
        usage = whole.usage_metadata
        return {"text": str(whole.text), "pieces": pieces, "input": usage["input_tokens"], "output": usage["output_tokens"]}

    def tools(model):
        agent = create_agent(make(model), tools=[tool(lookup)])
        question = {"messages": [{"role": "user", "content": PROMPTS["tools"]}]}
        whole = agent.invoke(question)["messages"][-1].text
        streamed = [state["messages"][-1].text for state in agent.stream(question, stream_mode="values")][-1]
        return {"text": str(whole) if str(whole) == str(streamed) else f"{whole} / {streamed}"}

    def structured(model):
        by_default = make(model).with_structured_output(Person).invoke(PROMPTS["object"])
        by_schema = make(model).with_structured_output(Person, method="json_schema").invoke(PROMPTS["object"])
        by_tool = make(model).with_structured_output(Person, method="function_calling").invoke(PROMPTS["object"])
        assert by_default == by_schema == by_tool, (by_default, by_schema, by_tool)
        return {"object": by_tool.model_dump()}

    def error(model):
        return failures(
            {
                "refused": lambda: make(model).invoke(PROMPTS["refused"]),
                "overloaded": lambda: make(model).invoke(PROMPTS["overloaded"]),
                "midway": lambda: stream(model, PROMPTS["midway"]),
                "key": lambda: make(model, "tg_live_wrong").invoke("Hello"),
                "model": lambda: make("no-such-model").invoke("Hello"),
            }
        )

    return {"stream": stream, "tools": tools, "object": structured, "error": error}


play("langchain-python, chat", "gpt", "langchain-openai", scenes(chat))
play("langchain-python, responses", "gpt", "langchain-openai", scenes(responses))
play("langchain-python, messages", "claude", "langchain-anthropic", scenes(messages))
