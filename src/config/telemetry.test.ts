// Which variables of OpenTelemetry are followed, and what becomes of those that cannot be.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { telemetryOf } from './telemetry.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }
const FILE = {
  otlp: {
    endpoint: 'https://other/base/',
    headers: { authorization: 'Bearer x' },
    protocol: 'http/json' as const,
  },
}
const ALWAYS = { isParentBased: true, ratio: 1 }

test('without a collector there is no tracing, whatever else is set', () => {
  const env = { OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'x' }
  assert.deepEqual(telemetryOf({}, env), { tracing: null, ignored: [] })
})

test('the variables name the collector, else the file does', () => {
  const { tracing } = telemetryOf({}, ENDPOINT)
  const own = { url: 'http://collector:4318/v1/traces', headers: {}, protocol: 'http/protobuf' }
  assert.deepEqual(tracing, { ...own, sampler: ALWAYS, batch: {} })
  assert.deepEqual(telemetryOf(FILE, {}).tracing, {
    url: 'https://other/base/v1/traces',
    headers: { authorization: 'Bearer x' },
    protocol: 'http/json',
    sampler: ALWAYS,
    batch: {},
  })
  // The headers of one collector are not for another.
  assert.deepEqual(telemetryOf(FILE, ENDPOINT).tracing, tracing)
})

test('an address for traces alone is taken as it is, and its protocol goes before the general one', () => {
  const { tracing } = telemetryOf(
    {},
    {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:1/own',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    },
  )
  assert.deepEqual([tracing?.url, tracing?.protocol], ['http://traces:1/own', 'http/json'])
})

test('two variables turn it off', () => {
  for (const off of [{ OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }])
    assert.equal(telemetryOf(FILE, { ...ENDPOINT, ...off }).tracing, null)
})

test('samplers have their usual names', () => {
  const share = { OTEL_TRACES_SAMPLER_ARG: '0.25' }
  for (const [name, isParentBased, ratio] of [
    ['always_on', false, 1],
    ['always_off', false, 0],
    ['traceidratio', false, 0.25],
    ['parentbased_always_off', true, 0],
    ['parentbased_traceidratio', true, 0.25],
  ] as const) {
    const env = { ...ENDPOINT, ...share, OTEL_TRACES_SAMPLER: name }
    assert.deepEqual(telemetryOf({}, env).tracing?.sampler, { isParentBased, ratio }, name)
  }
})

test('batches are as large and as late as the variables say', () => {
  const env = {
    ...ENDPOINT,
    OTEL_BSP_SCHEDULE_DELAY: '10',
    OTEL_BSP_EXPORT_TIMEOUT: '20',
    OTEL_BSP_MAX_QUEUE_SIZE: '30',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '40',
  }
  assert.deepEqual(telemetryOf({}, env).tracing?.batch, {
    scheduledDelayMillis: 10,
    exportTimeoutMillis: 20,
    maxQueueSize: 30,
    maxExportBatchSize: 40,
  })
})

test('what cannot be followed is named, and keeps nothing else from working', () => {
  const wrong = {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_BSP_MAX_QUEUE_SIZE: 'many',
  }
  const { tracing, ignored } = telemetryOf({}, { ...ENDPOINT, ...wrong })
  assert.deepEqual([tracing?.sampler, tracing?.batch], [ALWAYS, {}])
  const names = ignored.map((line) => line.split(' ')[0])
  assert.deepEqual(new Set(names), new Set(['OTEL_BSP_MAX_QUEUE_SIZE', 'OTEL_TRACES_SAMPLER_ARG']))
  for (const variables of [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  ]) {
    const { tracing: none, ignored: named } = telemetryOf({}, variables)
    assert.equal(none, null)
    assert.match(named.join(), /^OTEL_EXPORTER_OTLP_\w+ must be/)
  }
  const sampler = telemetryOf({}, { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'xray' })
  assert.deepEqual(sampler.tracing?.sampler, ALWAYS)
  assert.match(sampler.ignored.join(), /OTEL_TRACES_SAMPLER must be one of/)
})
