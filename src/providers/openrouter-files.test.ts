// OpenRouter reads a request's files for nothing but tokens: by the model itself, or by the parser without a fee.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { withFreeParser } from './openrouter-files.ts'

const FILE = '{"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"x"}}]}]}'

const engineOf = async (body: string, model: string): Promise<unknown> => {
  const told = JSON.parse((await withFreeParser(Buffer.from(body), model)).toString()) as {
    readonly plugins?: readonly { readonly id: string; readonly pdf: { readonly engine: string } }[]
  }
  return told.plugins?.map(({ id, pdf }) => [id, pdf.engine]).flat()
}

test('files go to models that read them, and through the free parser to others', async () => {
  for (const [model, engine] of [
    ['anthropic/claude-sonnet-4.6', 'native'],
    ['google/gemini-2.5-pro', 'native'],
    ['openai/gpt-5-mini', 'native'],
    ['openai/gpt-oss-120b', 'cloudflare-ai'],
    ['meta-llama/llama-3.3-70b-instruct', 'cloudflare-ai'],
  ] as const) {
    assert.deepEqual(await engineOf(FILE, model), ['file-parser', engine], model)
  }
})

test('the parser is set wherever a file may be, and in the place of no plugins', async () => {
  for (const body of [
    FILE.replace('"file",', '"\\u0066ile",'),
    '{"input":[{"role":"user","content":[{"type":"input_file","file_data":"x"}]}]}',
    FILE.replace('{', '{"plugins":null,'),
  ]) {
    assert.deepEqual(await engineOf(body, 'other/model'), ['file-parser', 'cloudflare-ai'], body)
  }
})

test('a request without files is sent unchanged', async () => {
  const plain = Buffer.from('{ "messages": [{"role":"user","content":"a \\"file\\""}] }')
  assert.equal(await withFreeParser(plain, 'other/model'), plain)
})
