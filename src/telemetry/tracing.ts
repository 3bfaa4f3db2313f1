// Traces for OpenTelemetry: a request becomes finished spans when it ends, from the moments that its stages told
// (docs/decisions/0016-tracing.md). Loaded only where tracing is on; the only user of OpenTelemetry's packages.
import { randomUUID } from 'node:crypto'
import { setTimeout as timeout } from 'node:timers/promises'
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace as contexts,
  TraceFlags,
  type Attributes,
  type HrTime,
  type SpanContext,
} from '@opentelemetry/api'
import { ExportResultCode, millisToHrTime, parseTraceParent, TraceState } from '@opentelemetry/core'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
  type Resource,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace'
import type { Clock } from '../core/clock.ts'
import type { Endpoint } from '../core/endpoints.ts'
import { CLIENT_GONE_STATUS } from '../core/errors.ts'
import { defined } from '../core/json.ts'
import { describeFailure, type Log } from './log.ts'
import type {
  Attempted,
  AttemptSpan,
  OpenSpan,
  RequestOutcome,
  Spans,
  Trace,
  TracedCall,
  TraceHeaders,
} from './trace.ts'

export type TracingSettings = {
  /** Where spans are sent to. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly sampler: SamplerSettings
  /** What is unset is as OpenTelemetry has it. */
  readonly batch: {
    readonly scheduledDelayMillis?: number
    readonly exportTimeoutMillis?: number
    readonly maxQueueSize?: number
    readonly maxExportBatchSize?: number
  }
}

export type SamplerSettings = {
  /** Whether a trace that a client began is sampled as the client says. */
  readonly isParentBased: boolean
  /** The share of the traces that begin here. */
  readonly ratio: number
}

type TracingParts = {
  readonly settings: TracingSettings
  readonly version: string
  readonly clock: Clock
  readonly log: Log
}

/** How long the last spans may take to go out when the gateway stops. */
const LAST_SPANS_MS = 5_000

export class Tracing {
  readonly #parts: SpanParts
  readonly #sampler: Sampler
  readonly #processor: BatchSpanProcessor

  constructor({ settings, version, clock, log }: TracingParts) {
    diag.setLogger(diagnosesTo(log, clock), DiagLogLevel.WARN)
    const { url, headers, protocol, batch } = settings
    const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter
    const exporter = watched(new Exporter({ url, headers }), { url, log })
    this.#processor = new BatchSpanProcessor({ exporter, ...batch })
    this.#sampler = samplerOf(settings.sampler)
    this.#parts = {
      clock,
      ids: new RandomIdGenerator(),
      resource: resourceOf(version),
      scope: { name: 'tollgate', version },
      add: (span) => this.#processor.onEnd(span),
    }
  }

  /** A request has begun: in the trace that its headers name, else in one of its own. */
  begin(headers: TraceHeaders, startedMs: number): Spans {
    const { ids } = this.#parts
    const parent = headers.traceparent === undefined ? undefined : parentOf(headers)
    const traceId = parent?.traceId ?? ids.generateTraceId()
    const above =
      parent === undefined ? ROOT_CONTEXT : contexts.setSpanContext(ROOT_CONTEXT, parent)
    const { decision } = this.#sampler.shouldSample(above, traceId, '', SpanKind.SERVER, {}, [])
    const isSampled = decision === SamplingDecision.RECORD_AND_SAMPLED
    const own = contextOf(ids.generateSpanId(), { traceId, isSampled, state: parent?.traceState })
    return new RequestSpans(this.#parts, { own, parent, startedMs })
  }

  /** Sends what is waiting, as far as somebody takes it. */
  async close(): Promise<void> {
    const sent = this.#processor.shutdown().catch(() => {})
    await Promise.race([sent, timeout(LAST_SPANS_MS, undefined, { ref: false })])
  }
}

type SpanParts = Pick<ReadableSpan, 'resource'> & {
  readonly scope: ReadableSpan['instrumentationScope']
  readonly clock: Clock
  readonly ids: RandomIdGenerator
  readonly add: (span: ReadableSpan) => void
}

type RequestContext = {
  readonly own: SpanContext
  readonly parent: SpanContext | undefined
  readonly startedMs: number
}

class RequestSpans implements Spans {
  readonly #parts: SpanParts
  readonly #context: RequestContext
  readonly #stages: Stage[] = []
  readonly #attempts: Attempt[] = []

  constructor(parts: SpanParts, context: RequestContext) {
    this.#parts = parts
    this.#context = context
  }

  get traceId(): string {
    return this.#context.own.traceId
  }

  get #isSampled(): boolean {
    return this.#context.own.traceFlags === TraceFlags.SAMPLED
  }

  begin(name: string): OpenSpan | undefined {
    if (!this.#isSampled) return undefined
    const stage = new Stage(name, this.#parts.clock)
    this.#stages.push(stage)
    return stage
  }

  beginAttempt(attempted: Attempted): AttemptSpan {
    const { own } = this.#context
    if (!this.#isSampled) return attempted.propagates ? unsampled(own) : NOT_SAMPLED
    const context = { ...own, spanId: this.#parts.ids.generateSpanId() }
    const attempt = new Attempt(attempted, context, this.#parts.clock)
    this.#attempts.push(attempt)
    return attempt
  }

  end(trace: Trace, outcome: RequestOutcome): void {
    if (!this.#isSampled) return
    const { clock } = this.#parts
    const endedMs = clock.monotonicMs()
    // Within a request all moments are of the monotonic clock: its spans fit into each other.
    const at = (ms: number): HrTime => millisToHrTime(clock.now() - endedMs + ms)
    const { own, parent, startedMs } = this.#context
    const operation = trace.endpoint && OPERATIONS[trace.endpoint]
    for (const stage of [...this.#stages, ...this.#attempts])
      this.#add({
        ...stage.spanOf(operation),
        context: stage.context ?? { ...own, spanId: this.#parts.ids.generateSpanId() },
        parent: own,
        startTime: at(stage.startedMs),
        endTime: at(stage.endedMs ?? endedMs),
        error: stage.endedMs === undefined ? 'unfinished' : stage.failure,
      })
    const answered = this.#attempts.findLast(({ failure }) => failure === undefined)
    this.#add({
      name: nameOf(trace, outcome, operation),
      kind: SpanKind.SERVER,
      attributes: attributesOf(trace, outcome, { operation, answered }),
      context: own,
      parent,
      startTime: at(startedMs),
      endTime: at(endedMs),
      error: errorOf(outcome),
      // A refusal is the client's error, not this server's.
      isFault: (outcome.error?.status ?? 0) >= 500,
    })
  }

  #add({ context, parent, error, isFault = error !== undefined, ...span }: Finished): void {
    const { startTime, endTime } = span
    const { resource, scope, add } = this.#parts
    add({
      ...span,
      ...NOTHING_MORE,
      attributes:
        error === undefined ? span.attributes : { ...span.attributes, 'error.type': error },
      spanContext: () => context,
      ...(parent && { parentSpanContext: parent }),
      duration: durationOf(startTime, endTime),
      status: isFault ? { code: SpanStatusCode.ERROR } : { code: SpanStatusCode.UNSET },
      resource,
      instrumentationScope: scope,
    })
  }
}

type Finished = Pick<ReadableSpan, 'name' | 'kind' | 'attributes' | 'startTime' | 'endTime'> & {
  readonly context: SpanContext
  readonly parent: SpanContext | undefined
  readonly error: string | undefined
  readonly isFault?: boolean
}

/** Links and events, of which there are none, and what was dropped of them. */
const NOTHING_MORE = {
  links: [],
  events: [],
  ended: true,
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
}

/** What the ledger does for a request. */
class Stage implements OpenSpan {
  readonly context: SpanContext | undefined = undefined
  readonly startedMs: number
  endedMs: number | undefined
  failure: string | undefined
  protected readonly clock: Clock
  readonly #name: string

  constructor(name: string, clock: Clock) {
    this.#name = name
    this.clock = clock
    this.startedMs = clock.monotonicMs()
  }

  end(failure?: string): void {
    this.endedMs ??= this.clock.monotonicMs()
    this.failure = failure
  }

  spanOf(_operation: string | undefined): Pick<Finished, 'name' | 'kind' | 'attributes'> {
    return { name: this.#name, kind: SpanKind.INTERNAL, attributes: {} }
  }
}

/** A call to a provider. */
class Attempt extends Stage implements AttemptSpan {
  override readonly context: SpanContext
  readonly call: TracedCall
  readonly #attempted: Attempted
  #url: URL | undefined

  constructor(attempted: Attempted, context: SpanContext, clock: Clock) {
    super(attempted.target, clock)
    this.#attempted = attempted
    this.context = context
    this.call = {
      headers: attempted.propagates ? headersOf(context) : [],
      onSent: (url) => {
        this.#url = url
      },
    }
  }

  get provider(): string {
    return PROVIDERS[this.#attempted.kind] ?? this.#attempted.kind
  }

  get model(): string {
    return this.#attempted.model
  }

  override spanOf(operation = 'call'): Pick<Finished, 'name' | 'kind' | 'attributes'> {
    return {
      name: `${operation} ${this.model}`,
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': this.provider,
        'gen_ai.request.model': this.model,
        'tollgate.target': this.#attempted.target,
        ...(this.#url && {
          'server.address': this.#url.hostname,
          'server.port': portOf(this.#url),
        }),
      },
    }
  }
}

const NOT_SAMPLED: AttemptSpan = { end: () => {}, call: { headers: [] } }

/** Whoever is asked must know as well that nobody wants to see this trace. */
function unsampled(context: SpanContext): AttemptSpan {
  return { end: () => {}, call: { headers: headersOf(context) } }
}

/** What OpenTelemetry calls what an endpoint does. */
const OPERATIONS: { readonly [Name in Endpoint]?: string } = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  embeddings: 'embeddings',
}

/** What it calls the kinds of providers. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  azure: 'azure.ai.openai',
  anthropic: 'anthropic',
  gemini: 'gcp.gemini',
  bedrock: 'aws.bedrock',
  vertex: 'gcp.vertex_ai',
}

/** Few names, whatever clients send: a path that does not exist is not part of one. */
function nameOf(trace: Trace, { method = 'HTTP' }: RequestOutcome, operation?: string): string {
  if (operation !== undefined && trace.model !== undefined) return `${operation} ${trace.model}`
  return trace.endpoint === undefined ? method : `${method} ${trace.path ?? ''}`
}

type Served = {
  readonly operation: string | undefined
  /** The attempt that brought the answer, if one did. */
  readonly answered: Attempt | undefined
}

function attributesOf(
  trace: Trace,
  { method, status }: RequestOutcome,
  { operation, answered }: Served,
): Attributes {
  const { model, stream, firstTokenMs } = trace
  return defined({
    'http.request.method': method,
    'http.route': trace.endpoint && trace.path,
    'http.response.status_code': status,
    ...(model !== undefined && {
      'gen_ai.operation.name': operation,
      'gen_ai.request.model': model,
      'gen_ai.request.stream': stream,
    }),
    ...(answered && {
      'gen_ai.provider.name': answered.provider,
      'gen_ai.response.model': answered.model,
      'gen_ai.usage.input_tokens': trace.inputTokens,
      'gen_ai.usage.output_tokens': trace.outputTokens,
    }),
    ...(stream === true &&
      firstTokenMs !== undefined && {
        'gen_ai.response.time_to_first_chunk': firstTokenMs / 1_000,
      }),
    'tollgate.request.id': trace.requestId,
    'tollgate.key.id': trace.keyId,
    'tollgate.group.id': trace.groupId ?? undefined,
    'tollgate.cost_usd': trace.costUsd && Number(trace.costUsd),
    'tollgate.estimated': trace.estimated,
  })
}

function errorOf({ error, status }: RequestOutcome): string | undefined {
  return error?.code ?? (status === CLIENT_GONE_STATUS ? 'client_gone' : undefined)
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function durationOf([startS, startNs]: HrTime, [endS, endNs]: HrTime): HrTime {
  const nanoseconds = (endS - startS) * 1e9 + endNs - startNs
  return [Math.floor(nanoseconds / 1e9), nanoseconds % 1e9]
}

type ContextFacts = {
  readonly traceId: string
  readonly isSampled: boolean
  readonly state: SpanContext['traceState']
}

function contextOf(spanId: string, { traceId, isSampled, state }: ContextFacts): SpanContext {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return { traceId, spanId, traceFlags, ...(state && { traceState: state }) }
}

function parentOf({ traceparent = '', tracestate }: TraceHeaders): SpanContext | undefined {
  const parent = parseTraceParent(traceparent)
  if (parent === null) return undefined
  const traceState = tracestate === undefined ? undefined : new TraceState(tracestate)
  return { ...parent, isRemote: true, ...(traceState && { traceState }) }
}

function headersOf({ traceId, spanId, traceFlags, traceState }: SpanContext): readonly string[] {
  const state = traceState?.serialize() ?? ''
  const more = state === '' ? [] : ['tracestate', state]
  return ['traceparent', `00-${traceId}-${spanId}-0${traceFlags}`, ...more]
}

function samplerOf({ isParentBased, ratio }: SamplerSettings): Sampler {
  const root =
    ratio >= 1
      ? new AlwaysOnSampler()
      : ratio <= 0
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio)
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

/** Who sends the spans; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES have the last word. */
function resourceOf(version: string): Resource {
  const own = resourceFromAttributes({
    'service.name': 'tollgate',
    'service.version': version,
    'service.instance.id': randomUUID(),
  })
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector]
  return defaultResource().merge(own).merge(detectResources({ detectors }))
}

/** Says once that spans are lost, and once that they arrive again. */
function watched(
  exporter: SpanExporter,
  { url, log }: { readonly url: string; readonly log: Log },
): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS
        if (failed && !isFailing) {
          const cause = describeFailure(result.error ?? 'unknown')
          const message = 'the collector takes no spans: they are lost until it does'
          log.warn('spans_lost', { url, cause, message })
        }
        if (!failed && isFailing) log.info('spans_arriving', { url })
        isFailing = failed
        // Spans that failed are dropped in any case; told of it, the packages would log a stack for each batch.
        done({ code: ExportResultCode.SUCCESS })
      }),
    shutdown: () => exporter.shutdown(),
  }
}

const DIAGNOSIS_EVERY_MS = 60_000

/** What the packages find odd, such as a full queue; a line each minute at most. */
function diagnosesTo(log: Log, clock: Clock) {
  let saidMs = -Infinity
  const say = (message: string): void => {
    if (clock.monotonicMs() - saidMs < DIAGNOSIS_EVERY_MS) return
    saidMs = clock.monotonicMs()
    log.warn('tracing', { message })
  }
  const nothing = (): void => {}
  return { error: say, warn: say, info: nothing, debug: nothing, verbose: nothing }
}
