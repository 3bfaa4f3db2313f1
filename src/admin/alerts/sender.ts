// One attempt to deliver an alert, as a signed webhook or a mail, and why it did not arrive. Retries are decided elsewhere.
import { createHmac } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { GatewayError, messageOf } from '../../core/errors.ts'
import { isGroupId } from '../../core/ids.ts'
import { sentence, type Sentence, type SentenceName } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import { METADATA_CODE } from '../../providers/upstream/addresses.ts'
import type { HttpRequest, HttpClient } from '../../providers/upstream/http.ts'
import type { Alert, BudgetAlert, OutageAlert, RefusedAlert } from '../../store/alerts/alerts.ts'
import type { Destination } from '../../store/alerts/destinations.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { NO_KEY } from '../../store/refusals.ts'
import type { Mailer } from '../people/email.ts'
import { textOf } from './texts.ts'

export type AlertSender = {
  /** Returns the receiver's answer in brief. Throws if it did not accept the alert. */
  send(destination: Addressed, alert: Alert): Promise<string>
  /** The secret that signs the webhooks to a destination. */
  secretOf(destinationId: string): string
}

type Addressed = Pick<Destination, 'id' | 'kind' | 'address'>

type SenderParts = {
  readonly clock: Clock
  readonly http: HttpClient
  readonly mailer: Mailer | undefined
  /** TOLLGATE_SECRET: the secret of each webhook is derived from it, so that none is stored. */
  readonly secret: string
}

/** A failure that this gateway can name. */
class DeliveryFailure extends Error {
  readonly sentence: Sentence

  constructor(why: Sentence, options?: ErrorOptions) {
    super(why.text, options)
    this.sentence = why
  }
}

/** Why it did not arrive, by name where that is known. */
export function failureOf(thrown: unknown): Sentence | string {
  if (thrown instanceof DeliveryFailure) return thrown.sentence
  return messageOf(thrown).slice(0, WHY_LENGTH_MAX)
}

const WHY_LENGTH_MAX = 400
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 15_000 }

export function alertSender(parts: SenderParts): AlertSender {
  const secretOf = (id: string): string => signingSecret(parts.secret, id)
  return {
    secretOf,
    send: (destination, alert) =>
      destination.kind === 'email'
        ? sendMail(parts, destination, alert)
        : sendWebhook(parts, { ...destination, secret: secretOf(destination.id) }, alert),
  }
}

/** What signs the webhooks to a destination, from TOLLGATE_SECRET. */
export function signingSecret(secret: string, destinationId: string): string {
  const mac = createHmac('sha256', secret).update(`webhook ${destinationId}`)
  return `whsec_${mac.digest('base64url')}`
}

/** `tollgate-signature: t=SECONDS,v1=HEX`: the HMAC-SHA-256 of `SECONDS.BODY` under the destination's secret. */
async function sendWebhook(
  { http, clock }: SenderParts,
  { address, secret }: { readonly address: string; readonly secret: string },
  alert: Alert,
): Promise<string> {
  const body = JSON.stringify(alertJson(alert))
  const seconds = Math.floor(clock.now() / 1_000)
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  const url = new URL(address)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'tollgate',
    'tollgate-signature': `t=${seconds},v1=${signature}`,
  }
  const sent = { url, headers, body: Buffer.from(body), timeouts: TIMEOUTS }
  const request = { method: 'POST', ...sent } as const
  const status = await statusOf(http, request).catch((thrown: unknown) => {
    throw new DeliveryFailure(webhookFailure(thrown, url), { cause: thrown })
  })
  if (status >= 200 && status < 300) return `answered ${status}`
  throw new Error(`answered ${status}`)
}

async function statusOf(http: HttpClient, request: HttpRequest): Promise<number> {
  const { status, body } = await http.send(request, AbortSignal.timeout(TIMEOUTS.totalMs))
  for await (const _ of body) {
    // The body is ignored, but must be read for the connection to be reused.
  }
  return status
}

async function sendMail(
  { mailer }: SenderParts,
  { address }: Addressed,
  alert: Alert,
): Promise<string> {
  if (mailer === undefined) throw new DeliveryFailure(sentence('no_smtp'))
  const { subject, text } = textOf(alert)
  await mailer.send({ to: address, subject: `Tollgate: ${subject}`, text: `${text}\n` })
  return 'taken by the mail server'
}

function alertJson(alert: Alert) {
  const given = {
    id: alert.id,
    created_at: iso(alert.at),
    text: inChat(textOf(alert).text),
    ...subjectOf(alert),
  }
  if (alert.kind === 'expiry') {
    const { daysBefore: days_before, expiresAt } = alert
    return { ...given, type: 'key.expires_soon', days_before, expires_at: iso(expiresAt) }
  }
  if (alert.kind === 'refusals') {
    const { code, count } = alert
    return { ...given, type: 'calls.refused', code, count }
  }
  if (alert.kind === 'wish') {
    const { askedBy: person, wanted, reason } = alert
    return { ...given, type: 'key.more_wanted', person, wanted, reason }
  }
  if (alert.kind === 'outage') return { ...given, ...outageJson(alert) }
  if (alert.kind === 'inactive') {
    const { person, lastSeenAt, keys, count } = alert
    return { ...given, type: 'person.inactive', person, last_seen_at: iso(lastSeenAt), keys, count }
  }
  if (alert.kind === 'ledger') return { ...given, type: 'ledger.alarm', message: alert.message }
  const spending = spendingJson(alert)
  if (alert.kind === 'refused') {
    const required = usd(alert.requiredNanodollars)
    return { ...given, type: 'budget.calls_refused', required, ...spending }
  }
  const { threshold } = alert
  return { ...given, type: 'budget.threshold_reached', threshold, ...spending }
}

function outageJson({ provider, target, reason, since, endedAt }: OutageAlert) {
  const type = endedAt === null ? 'provider.failing' : 'provider.recovered'
  const ended_at = iso(endedAt)
  return { type, provider, target, reason, since: iso(since), ended_at }
}

function subjectOf({ kind, accountId: id, accountName: name }: Alert) {
  if (kind === 'outage') return { scope: 'provider', key: null }
  if (kind === 'ledger') return { scope: 'ledger', key: null }
  if (kind === 'inactive') return { scope: 'person', key: null }
  if (id === FRAME_ID) return { scope: 'frame', key: null }
  if (isGroupId(id)) return { scope: 'group', key: null, group: { id, name } }
  return id === NO_KEY ? { scope: 'unknown_keys', key: null } : { scope: 'key', key: { id, name } }
}

export function spendingJson(alert: BudgetAlert | RefusedAlert) {
  const { spentNanodollars: spent, limitNanodollars: limit, resetsAt } = alert
  return { spent: usd(spent), limit: usd(limit), resets_at: iso(resetsAt) }
}

/** Slack and Mattermost show this text. Unescaped, a name in <…> could notify a whole channel or become a link. */
function inChat(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** For the person who set the address: the HTTP client's errors speak of providers, which are not involved here. */
export function webhookFailure(thrown: unknown, { hostname: host }: URL): Sentence {
  const causes = causesOf(thrown)
  // The codes of GatewayErrors mean something else.
  const system = causes.filter((each) => !(each instanceof GatewayError))
  const code = system.map(codeOf).find((each) => each !== undefined)
  const known = code === undefined ? undefined : REASONS[code]
  if (known !== undefined) return sentence(known, { host })
  if (code !== undefined && /CERT|TLS|SSL|SELF_SIGNED/.test(code)) {
    return sentence('webhook_certificate', { host, code })
  }
  const isLate = (each: Error): boolean =>
    each instanceof GatewayError && each.code === 'provider_timeout'
  if (causes.some(isLate)) return sentence('webhook_late', { host })
  const why = code ?? system.at(-1)?.message
  return why === undefined
    ? sentence('webhook_failed', { host })
    : sentence('webhook_failed_because', { host, why: why.slice(0, WHY_LENGTH_MAX) })
}

const REASONS: Readonly<Record<string, HostSentence>> = {
  ENOTFOUND: 'webhook_no_host',
  EAI_AGAIN: 'webhook_no_lookup',
  ECONNREFUSED: 'webhook_refused',
  ECONNRESET: 'webhook_broken_off',
  EPIPE: 'webhook_broken_off',
  UND_ERR_SOCKET: 'webhook_broken_off',
  EHOSTUNREACH: 'webhook_no_way',
  ENETUNREACH: 'webhook_no_way',
  UND_ERR_CONNECT_TIMEOUT: 'webhook_no_connection',
  UND_ERR_HEADERS_TIMEOUT: 'webhook_no_answer',
  [METADATA_CODE]: 'webhook_metadata',
}

type HostSentence = Exclude<
  Extract<SentenceName, `webhook_${string}`>,
  'webhook_certificate' | 'webhook_failed_because'
>

/** The error and its chain of causes. */
function causesOf(thrown: unknown): readonly Error[] {
  const causes: Error[] = []
  for (let each = thrown; each instanceof Error; each = each.cause) causes.push(each)
  return causes
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
