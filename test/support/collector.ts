// A collector of traces that speaks OTLP over HTTP: reads the protobuf and the JSON that OpenTelemetry's exporters send,
// by the field numbers of its trace.proto, and keeps the spans for a test to look at.
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from '../../src/core/json.ts'
import { startProvider } from './provider.ts'
import { until } from './until.ts'

export type Attribute = string | number | boolean

export type CollectedSpan = {
  readonly traceId: string
  readonly spanId: string
  /** Empty: it has no parent. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  readonly startNs: bigint
  readonly endNs: bigint
  readonly isError: boolean
  readonly attributes: Readonly<Record<string, Attribute>>
  /** Who sent it. */
  readonly resource: Readonly<Record<string, Attribute>>
}

export type TestCollector = AsyncDisposable & {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** What came, each as its content type and path. */
  readonly received: readonly string[]
  /** Headers of the last request. */
  header(name: string): string | undefined
  /** The spans of a trace, once there is one with this name. */
  traceWith(name: string): Promise<readonly CollectedSpan[]>
}

export async function startCollector(): Promise<TestCollector> {
  const spans: CollectedSpan[] = []
  const received: string[] = []
  let headers: Readonly<Record<string, unknown>> = {}
  const server = await startProvider((message, response, body) => {
    headers = message.headers
    const type = message.headers['content-type'] ?? ''
    received.push(`${type} ${message.url ?? ''}`)
    const bytes = message.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    spans.push(...(type === 'application/json' ? fromJson(bytes) : fromProtobuf(bytes)))
    response.setHeader('content-type', type).end(type === 'application/json' ? '{}' : '')
  })
  return {
    url: server.url,
    spans,
    received,
    header: (name) => headers[name]?.toString(),
    traceWith: (name) =>
      until(() => {
        const found = spans.find((span) => span.name === name)
        return found && spans.filter(({ traceId }) => traceId === found.traceId)
      }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const KINDS = ['unset', 'internal', 'server', 'client'] as const
const ERROR = 2

function kindOf(number: number): CollectedSpan['kind'] {
  const kind = KINDS[number]
  assert.ok(kind !== undefined && kind !== 'unset', `kind ${number}`)
  return kind
}

type Written = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WrittenAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[]
  }[]
}

type WrittenAttribute = { readonly key: string; readonly value: JsonObject }

type WrittenSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly WrittenAttribute[]
  readonly status: { readonly code: number }
}

function fromJson(bytes: Buffer): readonly CollectedSpan[] {
  const written = JSON.parse(bytes.toString()) as Written
  return written.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        traceState: span.traceState ?? '',
        name: span.name,
        kind: kindOf(span.kind),
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        isError: span.status.code === ERROR,
        attributes: attributesIn(span.attributes),
        resource: attributesIn(resource.attributes),
      })),
  )
}

function attributesIn(list: readonly WrittenAttribute[]): CollectedSpan['attributes'] {
  return Object.fromEntries(
    list.map(({ key, value }) => [key, Object.values(value)[0] as Attribute]),
  )
}

function fromProtobuf(bytes: Buffer): readonly CollectedSpan[] {
  return messages(bytes, 1).flatMap((resourceSpans) => {
    const [resource = NO_BYTES] = messages(resourceSpans, 1)
    const attributes = attributesOf(messages(resource, 1))
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => spanOf(fieldsOf(span), attributes))
  })
}

function spanOf(fields: Fields, resource: CollectedSpan['resource']): CollectedSpan {
  const bytes = (field: number): Buffer => (fields.get(field)?.[0] ?? NO_BYTES) as Buffer
  const number = (field: number): bigint => (fields.get(field)?.[0] ?? 0n) as bigint
  return {
    traceId: bytes(1).toString('hex'),
    spanId: bytes(2).toString('hex'),
    traceState: bytes(3).toString(),
    parentSpanId: bytes(4).toString('hex'),
    name: bytes(5).toString(),
    kind: kindOf(Number(number(6))),
    startNs: number(7),
    endNs: number(8),
    attributes: attributesOf((fields.get(9) ?? []) as Buffer[]),
    isError: fieldsOf(bytes(15)).get(3)?.[0] === BigInt(ERROR),
    resource,
  }
}

function attributesOf(pairs: readonly Buffer[]): CollectedSpan['attributes'] {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = NO_BYTES] = messages(pair, 1)
      const [value = NO_BYTES] = messages(pair, 2)
      const [[kind, [held]] = [0, [NO_BYTES]]] = [...fieldsOf(value)]
      return [key.toString(), attributeOf(kind, held ?? NO_BYTES)]
    }),
  )
}

function attributeOf(kind: number, held: bigint | Buffer): Attribute {
  if (typeof held !== 'bigint') return held.toString()
  if (kind === 2) return held === 1n
  if (kind === 3) return Number(held)
  const double = Buffer.alloc(8)
  double.writeBigUInt64LE(held)
  return double.readDoubleLE()
}

const NO_BYTES = Buffer.alloc(0)

/** By number: numbers are bigint, texts and messages are bytes. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>

function messages(bytes: Buffer, field: number): readonly Buffer[] {
  return (fieldsOf(bytes).get(field) ?? []) as Buffer[]
}

function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => bytes.subarray(at, (at += length))
  while (at < bytes.length) {
    const tag = Number(varint())
    const wire = tag & 7
    assert.ok([0, 1, 2, 5].includes(wire), `wire type ${wire}`)
    const value =
      wire === 0
        ? varint()
        : wire === 1
          ? take(8).readBigUInt64LE()
          : wire === 2
            ? take(Number(varint()))
            : BigInt(take(4).readUInt32LE())
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}
