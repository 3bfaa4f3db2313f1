// Everything a configuration file may say, with its defaults. docs/config.md describes each key, held by a test.
import { z } from 'zod'
import { ABILITIES, AUTH_HEADERS } from '../core/endpoints.ts'
import { PERIODS, WEEK_STARTS } from '../core/periods.ts'
import {
  budget,
  duration,
  flag,
  httpUrl,
  integer,
  isAboveZero,
  oneOf,
  prices,
  renamed,
  size,
  someSize,
  someWait,
  text,
  timezone,
  tokens,
  wait,
} from '../core/setting-kinds.ts'
import { withoutEndSlash } from '../core/text.ts'
import { isAddressOrNetwork, KEPT_ADDRESSES } from '../edge/address.ts'
import { providerSettings } from '../providers/adapters.ts'
import { timeouts } from '../providers/upstream/adapter.ts'
import { isDatabaseUrl } from '../store/database/url.ts'
import { KEYS_MAX } from '../telemetry/metrics.ts'

const host = text
const port = integer(0, 65_535)
const workers = integer(1, 256)
const database = text
  .refine((url) => /^sqlite:.|^postgres(ql)?:\/\//.test(url), {
    error: 'must be sqlite:PATH or postgres://USER@HOST/NAME',
    abort: true,
  })
  .refine(
    (url) => isDatabaseUrl(url),
    'must look like postgres://USER@HOST:PORT/NAME: escape special characters, as %40 for @, %2F for /, %3F for ?',
  )

const PROXY_LIST = 'must be a list of addresses and networks, such as [127.0.0.1, 10.0.0.0/8]'
const proxy = text.refine(isAddressOrNetwork, 'must be an address or a network, such as 10.0.0.0/8')

const server = z
  .strictObject({
    host: host.default('127.0.0.1'),
    port: port.default(4000),
    workers: workers.default(1),
    trusted_proxies: z.array(proxy, { error: () => PROXY_LIST }).default([]),
    body_limit: someSize.prefault('32MB'),
    body_memory: someSize.optional(),
    connections_max: integer(1, 1_000_000).default(10_000),
    waiting_max: integer(1, 100_000).default(1_000),
    waiting_time: someWait.prefault('250ms'),
    deregister: wait.prefault('0s'),
    drain: wait.prefault('2m'),
    bare_paths: flag.default(false),
  })
  .refine(({ body_limit, body_memory = Infinity }) => body_memory >= 2 * body_limit, {
    path: ['body_memory'],
    message: 'must be at least twice server.body_limit: no key gets more than half of it',
  })
  .transform(
    renamed({
      trusted_proxies: 'trustedProxies',
      body_limit: 'bodyBytesMax',
      body_memory: 'bodyBytesMaxTogether',
      connections_max: 'connectionsMax',
      waiting_max: 'waitingMax',
      waiting_time: 'waitingMs',
      deregister: 'deregisterMs',
      drain: 'drainMs',
      bare_paths: 'hasBarePaths',
    }),
  )

const oidc = z
  .strictObject({
    issuer: httpUrl,
    client_id: text,
    client_secret: text,
    name: text.default('single sign-on'),
    role: text.optional(),
    trust_email: flag.default(false),
  })
  .transform(
    renamed({ client_id: 'clientId', client_secret: 'clientSecret', trust_email: 'trustEmail' }),
  )

const smtp = z.strictObject({
  url: text.refine(
    (url) => /^smtps?:\/\/./.test(url) && URL.canParse(url),
    'must be smtp://USER:PASSWORD@HOST:587, or smtps:// for port 465',
  ),
  from: text.regex(
    /^[^\r\n]*@[^\r\n]*$/,
    'must be an address such as Tollgate <tollgate@example.com>',
  ),
})

const admin = z
  .strictObject({
    listen: listen().default('same'),
    public_url: httpUrl.transform(withoutEndSlash).optional(),
    oidc: oidc.optional(),
    smtp: smtp.optional(),
  })
  .transform(renamed({ public_url: 'publicUrl' }))

/** What groups at the single sign-on provider give people here. */
const signOnGroups = z.strictObject({
  claim: text.default('groups'),
  map: z.array(z.strictObject({ value: text, group: text.optional(), role: text })).min(1),
})

const people = z
  .strictObject({
    single_sign_on: z.strictObject({ groups: signOnGroups.optional() }).prefault({}),
    require_second_factor: oneOf(['none', 'managers', 'all']).default('none'),
    inactive_days: integer(1, 3650).optional(),
  })
  .transform(({ single_sign_on: { groups }, ...rest }) => ({
    signOnGroups: groups,
    requireSecondFactor: rest.require_second_factor,
    inactiveDays: rest.inactive_days ?? null,
  }))

const frame = z
  .strictObject({
    budget: budget.prefault(100),
    period: oneOf(PERIODS).default('month'),
    timezone: timezone.default('UTC'),
    week_start: oneOf(WEEK_STARTS).default('mon'),
  })
  .transform(renamed({ budget: 'limitNanodollars', week_start: 'weekStart' }))

const keys = z.strictObject({
  prefix: text
    .regex(/^[a-z][a-z0-9]{0,15}$/, 'must be 1 to 16 lower-case letters and digits, a letter first')
    .default('tg'),
  foreign: flag.default(false),
})

const auth = z.strictObject({ headers: oneOf(AUTH_HEADERS).default('strict') })

/** Whether clients are served as the gateway they come from served them. */
const compat = z.strictObject({ litellm: flag.default(false) })

const NOTHING_STORED = 'must be above 0: to store nothing, set responses.store to false'

const responses = z
  .strictObject({
    store: flag.default(true),
    retention: duration.refine(isAboveZero, NOTHING_STORED).prefault('7d'),
    key_limit: size.refine(isAboveZero, NOTHING_STORED).prefault('1GB'),
  })
  .transform(renamed({ retention: 'retentionMs', key_limit: 'keyBytesMax' }))

const ledger = z
  .strictObject({
    beat: someWait.prefault('3s'),
    dead_after: wait.prefault('15s'),
    keep_usage: duration.prefault('400d'),
  })
  .refine(({ beat, dead_after }) => dead_after >= 3 * beat, {
    path: ['dead_after'],
    message: 'must be at least three beats: a node that misses one is not dead yet',
  })
  .transform(renamed({ beat: 'beatMs', dead_after: 'deadAfterMs', keep_usage: 'keepUsageMs' }))

const refusals = z.strictObject({ address: oneOf(KEPT_ADDRESSES).default('prefix') })

/** More series than a monitor should keep of one gateway. */
const METRICS_KEYS_MAX = 5_000
const metrics = z
  .strictObject({ keys_max: integer(0, METRICS_KEYS_MAX).default(KEYS_MAX) })
  .transform(renamed({ keys_max: 'keysMax' }))

/** Where traces go, unless OpenTelemetry's own variables say so. */
const telemetry = z.strictObject({
  otlp: z
    .strictObject({
      endpoint: httpUrl,
      headers: z.record(text, text).default({}),
      protocol: oneOf(['http/protobuf', 'http/json']).default('http/protobuf'),
    })
    .optional(),
})

const reference = text
  .regex(/^[^/\s]+\/\S+$/, 'must be PROVIDER/MODEL, such as openai/gpt-5-mini')
  .transform((name) => {
    const slash = name.indexOf('/')
    return { provider: name.slice(0, slash), model: name.slice(slash + 1) }
  })

const alone = reference.transform((to) => ({ ...to, weight: 1, timeouts: {} }))
const target = z.union(
  [
    alone,
    z
      .strictObject({
        to: reference,
        weight: integer(1, 1_000).default(1),
        timeouts: timeouts.prefault({}),
      })
      .transform(({ to, ...rest }) => ({ ...to, ...rest })),
  ],
  { error: () => 'must be PROVIDER/MODEL, or { to: PROVIDER/MODEL, weight: N }' },
)
/** Tried in order, so a weight would mean nothing. */
const fallback = z.union(
  [
    alone,
    z
      .strictObject({ to: reference, timeouts: timeouts.prefault({}) })
      .transform(({ to, timeouts }) => ({ ...to, weight: 1, timeouts })),
  ],
  { error: () => 'must be PROVIDER/MODEL, or { to: PROVIDER/MODEL, timeouts: { … } }' },
)

const abilities = z.partialRecord(z.enum(ABILITIES), flag)

const model = z
  .strictObject({
    kind: oneOf(['chat', 'embedding']).optional(),
    targets: z
      .array(target, { error: () => 'must be a list of PROVIDER/MODEL' })
      .min(1, 'must name at least one target'),
    fallbacks: z.array(fallback, { error: () => 'must be a list of PROVIDER/MODEL' }).default([]),
    price: prices.optional(),
    price_like: text.optional(),
    context: tokens.optional(),
    max_output: tokens.optional(),
    default_output: tokens.optional(),
    abilities: abilities.default({}),
  })
  .transform(
    renamed({ price_like: 'priceLike', max_output: 'maxOutput', default_output: 'defaultOutput' }),
  )

/** A public name travels in JSON, in headers and in lists with commas. */
const modelName = z.string().regex(/^[^\s,]{1,200}$/, 'must be a name without spaces or commas')
const providerName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'must be a name of letters, digits, dots and dashes')

export const file = z.strictObject({
  server: server.prefault({}),
  admin: admin.prefault({}),
  people: people.prefault({}),
  database: database.default('sqlite:data/tollgate.db'),
  frame: frame.prefault({}),
  keys: keys.prefault({}),
  auth: auth.prefault({}),
  compat: compat.prefault({}),
  responses: responses.prefault({}),
  ledger: ledger.prefault({}),
  refusals: refusals.prefault({}),
  metrics: metrics.prefault({}),
  telemetry: telemetry.prefault({}),
  sandbox: flag.default(true),
  providers: z.record(providerName, providerSettings).optional(),
  models: z.record(modelName, model).optional(),
})

export type FileSettings = z.output<typeof file>
export type ModelSettings = z.output<typeof model>

/** `same` as the data plane, or a separate address: HOST:PORT. */
function listen() {
  const hint = 'must be same, or HOST:PORT such as 127.0.0.1:4001'
  return z
    .string({ error: () => hint })
    .refine((value) => value === 'same' || hostAndPort(value) !== undefined, hint)
    .transform((value) => hostAndPort(value) ?? ('same' as const))
}

function hostAndPort(value: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d{1,5})$/.exec(value)
  if (match === null || Number(match[3]) > 65_535) return undefined
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3]) }
}
