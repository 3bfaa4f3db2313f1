// docs/translation.md matches the code: its tables must equal those written here from the code's own, and it must name
// every place in the code that drops or refuses something.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { ChatFormat, Format, TargetFormat } from '../../src/core/endpoints.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { CHAT_FIELDS } from '../../src/wire/chat/fields.ts'
import { CODECS, UPSTREAM_CODECS } from '../../src/wire/codecs.ts'
import type { FieldTable } from '../../src/wire/contract/fields.ts'
import { REFUSED_FIELDS } from '../../src/wire/contract/fields.ts'
import type { Feature } from '../../src/wire/contract/losses.ts'
import { FEATURES } from '../../src/wire/contract/losses.ts'
import { EMBEDDING_FIELDS } from '../../src/wire/embeddings/codec.ts'
import { MESSAGES_FIELDS } from '../../src/wire/messages/fields.ts'
import { RESPONSES_FIELDS } from '../../src/wire/responses/fields.ts'
import { readCases } from '../fixtures/cases.ts'

const document = readFileSync('docs/translation.md', 'utf8')
const CHAT_FORMATS: readonly ChatFormat[] = ['chat', 'responses', 'messages']
const TARGETS: readonly TargetFormat[] = [...CHAT_FORMATS, 'gemini', 'converse']
const TABLES: Record<Format, FieldTable> = {
  chat: CHAT_FIELDS,
  responses: RESPONSES_FIELDS,
  messages: MESSAGES_FIELDS,
  embeddings: EMBEDDING_FIELDS,
}

describe('docs/translation.md', () => {
  test('lists the fields that no request may carry', () => {
    const fields = Object.entries(REFUSED_FIELDS)
    const rows = [...Map.groupBy(fields, ([, why]) => why)].map(([why, refused]) => [
      listed(refused.map(([name]) => name)),
      why,
    ])
    assert.deepEqual(tableUnder('Refused in every request'), rows)
  })

  test('lists the fields that only their own format has', () => {
    const rows = Object.entries(TABLES).flatMap(([format, table]) => {
      const dropped = Object.entries(table).flatMap(([name, fate]) =>
        typeof fate === 'string' ? [] : [{ name, why: fate.drop }],
      )
      return [...Map.groupBy(dropped, ({ why }) => why)].map(([why, fields]) => [
        format,
        listed(fields.map(({ name }) => name)),
        why,
      ])
    })
    assert.deepEqual(tableUnder('Fields of one format'), rows)
  })

  for (const target of TARGETS) {
    test(`lists what a ${target} provider cannot be sent`, () => {
      assert.deepEqual(tableUnder(`To a ${target} provider`), lossRows(target))
    })
  }

  test('names every part that a decoder drops', () => {
    const tables = ['Parts of one format', 'Taken out of every request'].flatMap(tableUnder)
    const documented = new Set(tables.map(([name]) => name))
    const dropped = sources().flatMap(({ text }) =>
      [...text.matchAll(/dropped\.(?:add|push)\(\s*['`]([^'`$]*)(\$?)/g)].map(
        ([, name = '', inserted]) => code(inserted === '' ? name : `${name}…`),
      ),
    )
    assert.ok(dropped.length > 0)
    assert.deepEqual(
      [...new Set(dropped)].filter((name) => !documented.has(name)),
      [],
    )
  })

  test('nothing is dropped under a name that this test cannot see', () => {
    const hidden = sources()
      .filter(({ text }) => /dropped\.(?:add|push)\(\s*[^'`\s]/.test(text))
      .map(({ path }) => path)
    // The table of losses, and the list of fields that the messages format removes.
    assert.deepEqual(hidden, ['src/wire/contract/losses.ts', 'src/wire/messages/call.ts'])
  })

  test('everything it lists as taken out of every request is taken out', () => {
    const examples: [Format, string, JsonObject][] = [
      ['chat', 'tools.…', { tools: [{ type: 'web_search' }] }],
      ['chat', 'web_search_options', { web_search_options: {} }],
      ['responses', 'tools.…', { tools: [{ type: 'web_search' }] }],
      ['messages', 'tools.…', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
      ['messages', 'compaction', { compaction: {} }],
      ['messages', 'diagnostics', { diagnostics: {} }],
      ['messages', 'fallback_credit_token', { fallback_credit_token: 'fct_1' }],
      [
        'responses',
        'prompt_cache_options.comparison_response_id',
        { prompt_cache_options: { comparison_response_id: 'resp_1' } },
      ],
      [
        'messages',
        'context_management.edits.compact',
        { context_management: { edits: [{ type: 'compact_20260112' }] } },
      ],
      ...(['chat', 'responses', 'messages'] as const).map(
        (format): [Format, string, JsonObject] => [
          format,
          'context_management',
          { context_management: [{ type: 'compaction' }] },
        ],
      ),
    ]
    for (const [format, name, body] of examples) {
      const { dropped } = CODECS[format].readCall({ ...smallest(format), ...body })
      const pattern = new RegExp(`^${RegExp.escape(name).replace('…', '.+')}$`)
      assert.ok(
        dropped.some((each) => pattern.test(each)),
        `${format}: ${name}: ${dropped.join()}`,
      )
    }
    const rows = [...new Set(examples.map(([, name]) => code(name)))]
    assert.deepEqual(
      tableUnder('Taken out of every request').map(([name]) => name),
      rows,
    )
  })

  test('names every place in the code that refuses something', () => {
    const documented = tableUnder('Refused where they stand').map(([name]) => name)
    // What each refusal without a fixed field is about.
    const places: Record<string, readonly string[]> = {
      'src/wire/contract/fields.ts': ['`file_id`', '`gs://…`'],
      'src/wire/contract/measure.ts': ['`ttl`'],
      'src/wire/chat/call.ts': ['`messages[].audio`'],
      'src/wire/messages/call.ts': ['`tool.definition`'],
      'src/wire/responses/call.ts': ['`item_reference`', '`image_generation_call`'],
      'src/wire/responses/request-decode.ts': ['`input[].type`'],
      'src/wire/contract/losses.ts': [],
    }
    for (const { path, text } of sources()) {
      for (const [, name] of text.matchAll(/unsupportedParameter\(\s*('[^']*'|[\w.]+)/g)) {
        const about = name?.startsWith("'") ? [code(name.slice(1, -1))] : places[path]
        assert.ok(about, `${path} refuses something that this test does not know`)
        for (const each of about) assert.ok(documented.includes(each), `${path}: ${each}`)
      }
    }
  })

  test('lists every refusal of the golden cases', () => {
    const names = tableUnder('Refused where they stand').map(([name = '']) =>
      name.replaceAll(/`|\[\]/g, ''),
    )
    const refused = ['chat', 'responses', 'messages'].flatMap((format) =>
      readCases(format as Format).flatMap(({ sections }) => {
        const refusal = JSON.parse(sections.get('refusal') ?? 'null') as {
          code: string
          param: string
        } | null
        return refusal?.code === 'unsupported_parameter'
          ? [refusal.param.replaceAll(/\[\d+\]/g, '')]
          : []
      }),
    )
    for (const param of refused) {
      const isNamed = names.some((name) => param === name || param.endsWith(`.${name}`))
      const isField = Object.hasOwn(REFUSED_FIELDS, param)
      assert.ok(isNamed || isField || param === 'input', param)
    }
  })
})

function code(name: string): string {
  return `\`${name}\``
}

function listed(names: readonly string[]): string {
  return names.map(code).join(', ') || '–'
}

/** One row for all that is lost for one reason, with each client's names for it. */
function lossRows(target: TargetFormat): string[][] {
  const { losses } = UPSTREAM_CODECS[target]
  const lost = Object.entries(FEATURES).flatMap(([feature, names]) => {
    const loss = losses[feature as Feature]
    return loss === undefined ? [] : [{ ...loss, names: names as ClientNames }]
  })
  return [...Map.groupBy(lost, ({ rule, why }) => `${rule} ${why}`).values()].map((group) => [
    ...CHAT_FORMATS.filter((client) => client !== target).map((client) =>
      listed([...new Set(group.flatMap(({ names }) => names[client] ?? []))]),
    ),
    group[0]?.rule === 'drop' ? 'dropped' : 'refused',
    group[0]?.why ?? '',
  ])
}

type ClientNames = Partial<Record<ChatFormat, string>>

/** The cells of the table below a heading. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = document.split(new RegExp(`^#+ ${RegExp.escape(heading)}$`, 'm'))
  const lines =
    section
      .split(/^#/m)[0]
      ?.split('\n')
      .filter((line) => line.startsWith('|')) ?? []
  assert.ok(lines.length > 0, `there is no table under "${heading}"`)
  return lines.slice(2).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split(' | ')
      .map((cell) => cell.trim()),
  )
}

function sources(): { readonly path: string; readonly text: string }[] {
  return globSync('src/wire/**/*.ts')
    .filter((path) => !path.endsWith('.test.ts'))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

function smallest(format: Format): JsonObject {
  const found = readCases(format).find(({ name }) => name === 'smallest')
  const body = JSON.parse(found?.sections.get('request') ?? 'null') as JsonObject
  assert.throws(() => CODECS[format].readCall({ ...body, model: 7 }), GatewayError)
  return body
}
