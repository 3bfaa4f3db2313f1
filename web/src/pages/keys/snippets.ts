// Ready-made code for each client, with the address and a model filled in. Pure text; snippets.test.ts reads it.

type SnippetValues = {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly model: string
  /** The secret itself; if undefined, the code reads the environment variable TOLLGATE_API_KEY. */
  readonly secret: string | undefined
}

export const snippetNames = {
  curl: 'curl',
  'openai-python': 'OpenAI · Python',
  'openai-typescript': 'OpenAI · TypeScript',
  'anthropic-python': 'Anthropic · Python',
  'anthropic-typescript': 'Anthropic · TypeScript',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  env: '.env',
} as const

type Snippet = keyof typeof snippetNames
export const SNIPPETS = Object.keys(snippetNames) as Snippet[]

export function snippetText(snippet: Snippet, values: SnippetValues): string {
  return writers[snippet](values)
}

const variable = 'TOLLGATE_API_KEY'

const writers: Readonly<Record<Snippet, (values: SnippetValues) => string>> = {
  // Exports the variable, so that later commands can use it too.
  curl: ({ baseUrl, model, secret }) => `${exported(secret)}curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer $${variable}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,

  'openai-python': ({ baseUrl, model, secret }) => `${importOs(secret)}from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=${python(secret)})
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,

  'openai-typescript': ({ baseUrl, model, secret }) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: ${typescript(secret)} })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,

  // From version 1.0 on the SDKs send Bearer themselves; this family reads x-api-key.
  'anthropic-python': ({
    baseUrl,
    model,
    secret,
  }) => `${importOs(secret)}from anthropic import Anthropic

key = ${python(secret)}
client = Anthropic(base_url="${baseUrl}", api_key=key, default_headers={"x-api-key": key})
message = client.messages.create(
    model="${model}",
    max_tokens=100,
    messages=[{"role": "user", "content": "Hello"}],
)
for block in message.content:
    if block.type == "text":
        print(block.text)`,

  'anthropic-typescript': ({ baseUrl, model, secret }) => `import Anthropic from '@anthropic-ai/sdk'

const key = ${typescript(secret)}
const client = new Anthropic({
  baseURL: '${baseUrl}',
  apiKey: key,
  defaultHeaders: { 'x-api-key': key },
})
const message = await client.messages.create({
  model: '${model}',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text)`,

  'claude-code': ({ baseUrl, model, secret }) => `export ANTHROPIC_BASE_URL=${baseUrl}
export ANTHROPIC_API_KEY=${secret ?? `"$${variable}"`}
export ANTHROPIC_MODEL=${model}
export ANTHROPIC_DEFAULT_OPUS_MODEL=${model}
export ANTHROPIC_DEFAULT_SONNET_MODEL=${model}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
claude`,

  codex: ({ baseUrl, model, secret }) => `# ~/.codex/config.toml
model = "${model}"
model_provider = "tollgate"

[model_providers.tollgate]
name = "Tollgate"
base_url = "${baseUrl}/v1"
env_key = "${variable}"
wire_api = "responses"

# then, in the shell: export ${variable}=${secret ?? '…'}`,

  env: ({ baseUrl, secret }) => `${variable}=${secret ?? ''}
TOLLGATE_BASE_URL=${baseUrl}`,
}

function exported(secret: string | undefined): string {
  return secret === undefined ? '' : `export ${variable}=${secret}\n`
}

function importOs(secret: string | undefined): string {
  return secret === undefined ? 'import os\n' : ''
}

function python(secret: string | undefined): string {
  return secret === undefined ? `os.environ["${variable}"]` : `"${secret}"`
}

function typescript(secret: string | undefined): string {
  return secret === undefined ? `process.env.${variable}` : `'${secret}'`
}
