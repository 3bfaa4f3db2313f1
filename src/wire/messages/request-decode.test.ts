// Parts of a messages request that other formats cannot express.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { JsonObject } from '../../core/json.ts'
import { decodeRequest } from './request-decode.ts'

const decode = (fields: JsonObject) =>
  decodeRequest({
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'x' }],
    ...fields,
  })

test('an unknown reasoning display is dropped and named, not refused', () => {
  const { reasoning, dropped } = decode({ thinking: { type: 'adaptive', display: 'updates' } })
  assert.deepEqual(reasoning, { effort: 'high' })
  assert.deepEqual(dropped, ['thinking.display'])
  const known = decode({ thinking: { type: 'adaptive', display: 'omitted' } })
  assert.deepEqual(known.reasoning, { effort: 'high', display: 'omitted' })
  assert.deepEqual(known.dropped, [])
})

test('an effort beside disabled reasoning is dropped and named', () => {
  const thinking = { type: 'disabled' }
  const { reasoning, dropped } = decode({ thinking, output_config: { effort: 'high' } })
  assert.deepEqual([reasoning, dropped], [{ effort: 'none' }, ['output_config.effort']])
  assert.deepEqual(decode({ thinking }).dropped, [])
})

test('reasoning only between tools becomes a low effort, and is named', () => {
  const thinking = { type: 'between_tools', display: 'omitted' }
  const { reasoning, dropped } = decode({ thinking })
  assert.deepEqual([reasoning, dropped], [{ effort: 'low', display: 'omitted' }, ['thinking.type']])
})

test('adaptive thinking becomes a high effort, this format’s default', () => {
  assert.deepEqual(decode({ thinking: { type: 'adaptive' } }).reasoning, { effort: 'high' })
})

describe('a model is bound to a schema wherever that is possible', () => {
  const closed = {
    type: 'object',
    properties: { gate: { type: 'string' } },
    required: ['gate'],
    additionalProperties: false,
  }
  const optional = { ...closed, required: [] }

  test('an answer', () => {
    const strictness = (schema: JsonObject): unknown => {
      const { outputFormat } = decode({
        output_config: { format: { type: 'json_schema', schema } },
      })
      return outputFormat?.type === 'json-schema' && outputFormat.strict
    }
    assert.equal(strictness(closed), true)
    assert.equal(strictness(optional), undefined)
  })

  test('a tool, and it is named if it cannot be', () => {
    const strictness = (schema: JsonObject): unknown => {
      const { tools, dropped } = decode({
        tools: [{ name: 'f', input_schema: schema, strict: true }],
      })
      return [tools.map((tool) => 'strict' in tool), dropped]
    }
    assert.deepEqual(strictness(closed), [[true], []])
    assert.deepEqual(strictness(optional), [[false], ['tools.strict']])
  })
})

describe('tools that only models of this format know are dropped and named', () => {
  const bash = { type: 'bash_20250124', name: 'bash' }
  const described = { name: 'f', input_schema: {} }
  const deferred = { ...described, name: 'rare', defer_loading: true }

  test('a toolset, which has no name', () => {
    const { tools, dropped } = decode({ tools: [{ type: 'browser_toolset_20260801' }, described] })
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['f'],
    )
    assert.deepEqual(dropped, ['tools.browser_toolset_20260801'])
  })

  for (const [tool, name] of [
    [bash, 'tools.bash_20250124'],
    [deferred, 'tools.defer_loading'],
  ] as const)
    test(`${tool.name}, and the choice of it`, () => {
      const { toolChoice, parallelToolCalls, dropped } = decode({
        tools: [tool, described],
        tool_choice: { type: 'tool', name: tool.name, disable_parallel_tool_use: true },
      })
      assert.equal(toolChoice, undefined)
      assert.equal(parallelToolCalls, false)
      assert.deepEqual(dropped, [name, 'tool_choice'])
    })
})

test('an instruction that only sets options for its turn is dropped and named', () => {
  const setting = { role: 'system', output_config: { effort: 'low' } }
  const { messages, dropped } = decode({ messages: [{ role: 'user', content: 'x' }, setting] })
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user'],
  )
  assert.deepEqual(dropped, ['messages.output_config'])
})

test('a block that cannot be translated is named by its type, or by having none', () => {
  const refused = (block: JsonObject) => () =>
    decode({ messages: [{ role: 'user', content: [block] }] })
  const place = String.raw`messages\[0\]\.content\[0\]`
  assert.throws(
    refused({ type: 'image_wall' }),
    RegExp(`${place} is a block of type image_wall, which cannot be translated`),
  )
  assert.throws(
    refused({ text: 'x' }),
    RegExp(`${place} is a block without a type, which cannot be translated`),
  )
})
