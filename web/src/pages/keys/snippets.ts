// Ready-made code for each client, with the address, the endpoint and the request filled in. The secret comes from the
// environment, never from the code. Pure text; snippets.test.ts reads it.
import type { Endpoint } from '../../../../src/core/endpoints.ts'
import { SECRET_VARIABLE as variable } from './environment.ts'

type Json = string | number | readonly Json[] | { readonly [name: string]: Json }

/** A call to write code for. A key that may do no more lists its models, with an empty body. */
export type Call = {
  readonly endpoint: Exclude<Endpoint, 'count_tokens'>
  readonly body: { readonly [name: string]: Json }
}

type Values = {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly body: Call['body']
  /** The body's own model, as text. */
  readonly model: string
}

export const snippetNames = {
  curl: 'curl',
  python: 'Python',
  typescript: 'TypeScript',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  langchain: 'LangChain',
  'pydantic-ai': 'Pydantic AI',
} as const

export type Snippet = keyof typeof snippetNames
export const SNIPPETS = Object.keys(snippetNames) as Snippet[]

type SnippetKey = {
  readonly permissions: readonly Endpoint[]
  readonly models: readonly { readonly id: string; readonly kind: 'chat' | 'embedding' }[]
}

/** A first call at each endpoint that a key may use with one of its models. */
export function callsOf({ permissions, models }: SnippetKey): readonly Call[] {
  const messages = [{ role: 'user', content: 'Hello' }]
  const first = (kind: string, endpoint: Call['endpoint'], rest: Call['body']): readonly Call[] => {
    const model = models.find((each) => each.kind === kind)?.id
    if (model === undefined || !permissions.includes(endpoint)) return []
    return [{ endpoint, body: { model, ...rest } }]
  }
  const calls = [
    ...first('chat', 'chat', { messages }),
    ...first('chat', 'responses', { input: 'Hello' }),
    ...first('chat', 'messages', { max_tokens: 100, messages }),
    ...first('embedding', 'embeddings', { input: 'Hello' }),
  ]
  return calls.length > 0 ? calls : [{ endpoint: 'models', body: {} }]
}

/** Those of the calls that a client can make. */
export function callsBy(snippet: Snippet, calls: readonly Call[]): readonly Call[] {
  return calls.filter(({ endpoint }) => writers[snippet][endpoint] !== undefined)
}

/** Empty if the client cannot make the call. */
export function snippetText(snippet: Snippet, { endpoint, body }: Call, baseUrl: string): string {
  const model = typeof body['model'] === 'string' ? body['model'] : ''
  return writers[snippet][endpoint]?.({ baseUrl, body, model }) ?? ''
}

type Writers = Readonly<Partial<Record<Call['endpoint'], (values: Values) => string>>>

const writers: Readonly<Record<Snippet, Writers>> = {
  curl: {
    chat: curl('/v1/chat/completions'),
    responses: curl('/v1/responses'),
    messages: curl('/v1/messages', 'x-api-key: '),
    embeddings: curl('/v1/embeddings'),
    models: ({ baseUrl }) => `curl ${baseUrl}/v1/models -H "Authorization: Bearer $${variable}"`,
  },
  python: {
    chat: openaiPython('chat.completions.create', 'answer.choices[0].message.content'),
    responses: openaiPython('responses.create', 'answer.output_text'),
    embeddings: openaiPython('embeddings.create', 'len(answer.data[0].embedding)'),
    // From version 1.0 on the SDKs send Bearer themselves; this family reads x-api-key.
    messages: ({ baseUrl, body }) => `import os
from anthropic import Anthropic

key = os.environ["${variable}"]
client = Anthropic(base_url="${baseUrl}", api_key=key, default_headers={"x-api-key": key})
message = client.messages.create(${pythonArguments(body)})
for block in message.content:
    if block.type == "text":
        print(block.text)`,
  },
  typescript: {
    chat: openaiTypescript('chat.completions.create', 'answer.choices[0].message.content'),
    responses: openaiTypescript('responses.create', 'answer.output_text'),
    embeddings: openaiTypescript('embeddings.create', 'answer.data[0].embedding.length'),
    messages: ({ baseUrl, body }) => `import Anthropic from '@anthropic-ai/sdk'

const key = process.env.${variable}
const client = new Anthropic({
  baseURL: '${baseUrl}',
  apiKey: key,
  defaultHeaders: { 'x-api-key': key },
})
const message = await client.messages.create(${typescriptArgument(body)})
for (const block of message.content) if (block.type === 'text') console.log(block.text)`,
  },
  'claude-code': {
    messages: ({ baseUrl, model }) => `export ANTHROPIC_BASE_URL=${baseUrl}
export ANTHROPIC_API_KEY="$${variable}"
${['MODEL', 'DEFAULT_OPUS_MODEL', 'DEFAULT_SONNET_MODEL', 'DEFAULT_HAIKU_MODEL']
  .map((name) => `export ANTHROPIC_${name}=${shell(model)}`)
  .join('\n')}
claude`,
  },
  codex: {
    responses: ({ baseUrl, model }) => `# ~/.codex/config.toml
model = ${JSON.stringify(model)}
model_provider = "tollgate"

[model_providers.tollgate]
name = "Tollgate"
base_url = "${baseUrl}/v1"
env_key = "${variable}"
wire_api = "responses"`,
  },
  opencode: {
    chat: opencode('@ai-sdk/openai-compatible'),
    responses: opencode('@ai-sdk/openai'),
    messages: opencode('@ai-sdk/anthropic'),
  },
  langchain: {
    chat: langchainOpenai(''),
    responses: langchainOpenai('\n    use_responses_api=True,'),
    messages: ({ baseUrl, model }) => `import os
from langchain_anthropic import ChatAnthropic

key = os.environ["${variable}"]
model = ChatAnthropic(
    model=${JSON.stringify(model)},
    base_url="${baseUrl}",
    api_key=key,
    default_headers={"x-api-key": key},
    max_tokens=1000,
)
print(model.invoke("Hello").text)`,
    embeddings: ({ baseUrl, model }) => `import os
from langchain_openai import OpenAIEmbeddings

embeddings = OpenAIEmbeddings(
    model=${JSON.stringify(model)},
    base_url="${baseUrl}/v1",
    api_key=os.environ["${variable}"],
    check_embedding_ctx_length=False,
)
print(len(embeddings.embed_query("Hello")))`,
  },
  'pydantic-ai': {
    chat: pydanticOpenai('OpenAIChatModel'),
    responses: pydanticOpenai('OpenAIResponsesModel'),
    messages: ({ baseUrl, model }) => `import os
from anthropic import AsyncAnthropic
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

key = os.environ["${variable}"]
client = AsyncAnthropic(base_url="${baseUrl}", api_key=key, default_headers={"x-api-key": key})
provider = AnthropicProvider(anthropic_client=client)
agent = Agent(AnthropicModel(${JSON.stringify(model)}, provider=provider))
print(agent.run_sync("Hello").output)`,
  },
}

function curl(path: string, header = 'Authorization: Bearer ') {
  return ({ baseUrl, body }: Values): string => `curl ${baseUrl}${path} \\
  -H "${header}$${variable}" \\
  -H "Content-Type: application/json" \\
  -d ${quoted(JSON.stringify(body))}`
}

function openaiPython(method: string, printed: string) {
  return ({ baseUrl, body }: Values): string => `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["${variable}"])
answer = client.${method}(${pythonArguments(body)})
print(${printed})`
}

function openaiTypescript(method: string, printed: string) {
  return ({ baseUrl, body }: Values): string => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: process.env.${variable} })
const answer = await client.${method}(${typescriptArgument(body)})
console.log(${printed})`
}

function opencode(npm: string) {
  return ({ baseUrl, model }: Values): string => {
    const options = { baseURL: `${baseUrl}/v1`, apiKey: `{env:${variable}}` }
    const tollgate = { npm, name: 'Tollgate', options, models: { [model]: { name: model } } }
    const $schema = 'https://opencode.ai/config.json'
    return JSON.stringify({ $schema, model: `tollgate/${model}`, provider: { tollgate } }, null, 2)
  }
}

function langchainOpenai(more: string) {
  return ({ baseUrl, model }: Values): string => `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${JSON.stringify(model)},
    base_url="${baseUrl}/v1",
    api_key=os.environ["${variable}"],${more}
)
print(model.invoke("Hello").text)`
}

function pydanticOpenai(kind: string) {
  return ({ baseUrl, model }: Values): string => `import os
from pydantic_ai import Agent
from pydantic_ai.models.openai import ${kind}
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url="${baseUrl}/v1", api_key=os.environ["${variable}"])
agent = Agent(${kind}(${JSON.stringify(model)}, provider=provider))
print(agent.run_sync("Hello").output)`
}

function pythonArguments(body: Call['body']): string {
  return `\n${Object.entries(body)
    .map(([name, value]) => `    ${name}=${listed(value, '    ', python)},`)
    .join('\n')}\n`
}

function typescriptArgument(body: Call['body']): string {
  return `{\n${Object.entries(body)
    .map(([name, value]) => `  ${name}: ${listed(value, '  ', typescript)},`)
    .join('\n')}\n}`
}

/** How a language spells strings and the fields of objects; numbers and lists are alike in both. */
type Spelling = {
  readonly text: (value: string) => string
  readonly fields: (fields: readonly (readonly [string, string])[]) => string
}

const python: Spelling = {
  text: (value) => JSON.stringify(value),
  fields: (fields) => `{${fields.map(([name, value]) => `"${name}": ${value}`).join(', ')}}`,
}

const typescript: Spelling = {
  text: (value) =>
    `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`,
  fields: (fields) => `{ ${fields.map(([name, value]) => `${name}: ${value}`).join(', ')} }`,
}

/** A list of several has a line for each. */
function listed(value: Json, indent: string, spelling: Spelling): string {
  if (!isList(value) || value.length < 2) return spelled(value, spelling)
  const lines = value.map((each) => `${indent}${indent}${spelled(each, spelling)},`)
  return `[\n${lines.join('\n')}\n${indent}]`
}

function spelled(value: Json, spelling: Spelling): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return spelling.text(value)
  if (isList(value)) return `[${value.map((each) => spelled(each, spelling)).join(', ')}]`
  return spelling.fields(
    Object.entries(value).map(([name, each]) => [name, spelled(each, spelling)] as const),
  )
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** As one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A name as it is, where a shell leaves it so. */
function shell(name: string): string {
  return /^[\w./:@-]+$/.test(name) ? name : quoted(name)
}
