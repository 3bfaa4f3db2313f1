// Whether requests are traced, and how: OpenTelemetry's own variables, else `telemetry.otlp` of the file. The variables
// may be meant for every program of a machine, so what cannot be followed here is named and ignored, as OpenTelemetry
// asks for, and keeps no gateway from starting.
import { defined } from '../core/json.ts'
import { withoutEndSlash } from '../core/text.ts'
import type { SamplerSettings, TracingSettings } from '../telemetry/tracing.ts'
import type { FileSettings } from './schema.ts'
import type { ConfigSource } from './source.ts'

export type Telemetry = {
  /** Null: off. */
  readonly tracing: TracingSettings | null
  /** Variables that were ignored, each with the reason. */
  readonly ignored: readonly string[]
}

type Reading = { readonly env: ConfigSource['env']; readonly ignored: string[] }

const TRACES_PATH = '/v1/traces'
const PROTOCOLS = ['http/protobuf', 'http/json'] as const

export function telemetryOf(
  { otlp }: FileSettings['telemetry'],
  env: ConfigSource['env'],
): Telemetry {
  const ignored: string[] = []
  const destination = isOff(env) ? undefined : (destinationIn({ env, ignored }) ?? otlp)
  if (destination === undefined) return { tracing: null, ignored }
  const { url, endpoint, ...rest } = { url: undefined, endpoint: undefined, ...destination }
  const tracing: TracingSettings = {
    url: url ?? `${withoutEndSlash(endpoint ?? '')}${TRACES_PATH}`,
    ...rest,
    sampler: samplerIn({ env, ignored }),
    batch: defined({
      scheduledDelayMillis: numberIn({ env, ignored }, 'OTEL_BSP_SCHEDULE_DELAY'),
      exportTimeoutMillis: numberIn({ env, ignored }, 'OTEL_BSP_EXPORT_TIMEOUT'),
      maxQueueSize: numberIn({ env, ignored }, 'OTEL_BSP_MAX_QUEUE_SIZE'),
      maxExportBatchSize: numberIn({ env, ignored }, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    }),
  }
  return { tracing, ignored }
}

function isOff(env: ConfigSource['env']): boolean {
  return (
    env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none'
  )
}

type Destination = Pick<TracingSettings, 'url' | 'headers' | 'protocol'>

/** Headers stay with the exporter, which reads their variables itself. Undefined: the variables name no collector. */
function destinationIn({ env, ignored }: Reading): Destination | undefined {
  const whole = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || undefined
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined
  const url = whole ?? (base && `${withoutEndSlash(base)}${TRACES_PATH}`)
  if (url === undefined) return undefined
  const name =
    whole === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  if (!['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')) {
    ignored.push(`${name} must be an address such as http://127.0.0.1:4318`)
    return undefined
  }
  const written =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || PROTOCOLS[0]
  const protocol = PROTOCOLS.find((one) => one === written)
  if (protocol === undefined) {
    ignored.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL must be ${PROTOCOLS.join(' or ')}, usually on port 4318`,
    )
    return undefined
  }
  return { url, headers: {}, protocol }
}

/** The share of the traces that begin here, by the name of the sampler; undefined: its argument says. */
const SAMPLERS: Readonly<Record<string, number | undefined>> = {
  always_on: 1,
  always_off: 0,
  traceidratio: undefined,
}

const PARENT_BASED = 'parentbased_'

function samplerIn({ env, ignored }: Reading): SamplerSettings {
  const written = env['OTEL_TRACES_SAMPLER'] || `${PARENT_BASED}always_on`
  const isParentBased = written.startsWith(PARENT_BASED)
  const root = isParentBased ? written.slice(PARENT_BASED.length) : written
  if (!Object.hasOwn(SAMPLERS, root)) {
    const names = Object.keys(SAMPLERS).join(', ')
    ignored.push(`OTEL_TRACES_SAMPLER must be one of ${names}, perhaps after ${PARENT_BASED}`)
    return { isParentBased: true, ratio: 1 }
  }
  return { isParentBased, ratio: SAMPLERS[root] ?? ratioIn({ env, ignored }) }
}

function ratioIn({ env, ignored }: Reading): number {
  const written = env['OTEL_TRACES_SAMPLER_ARG'] || '1'
  const ratio = Number(written)
  if (ratio >= 0 && ratio <= 1) return ratio
  ignored.push('OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1')
  return 1
}

function numberIn({ env, ignored }: Reading, name: string): number | undefined {
  const written = env[name] || undefined
  if (written === undefined) return undefined
  const number = Number(written)
  if (Number.isSafeInteger(number) && number > 0) return number
  ignored.push(`${name} must be a whole number above 0`)
  return undefined
}
