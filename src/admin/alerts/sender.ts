// One attempt to deliver an alert: a signed webhook or a mail. Retries are decided elsewhere.
import { createHmac } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { SENTENCES } from '../../core/sentences.ts'
import { iso, usd } from '../../core/units.ts'
import type { HttpCall, HttpClient } from '../../providers/upstream/http.ts'
import type { Alert } from '../../store/alerts/alerts.ts'
import type { Destination } from '../../store/alerts/destinations.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import type { Mailer } from '../mail.ts'
import { letterOf } from './letter.ts'
import { webhookFailure } from './webhook-failure.ts'

export type AlertSender = {
  /** Returns the receiver's answer in brief. Throws if it did not accept the alert. */
  send(destination: Destination, alert: Alert): Promise<string>
  /** The secret that signs the webhooks to a destination. */
  secretOf(destinationId: string): string
}

type SenderParts = {
  readonly clock: Clock
  readonly http: HttpClient
  readonly mailer: Mailer | undefined
  /** TOLLGATE_SECRET: the secret of each webhook is derived from it, so that none is stored. */
  readonly secret: string
}

const TIMEOUTS = { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 15_000 }

export function alertSender(parts: SenderParts): AlertSender {
  const secretOf = (id: string): string =>
    `whsec_${createHmac('sha256', parts.secret).update(`webhook ${id}`).digest('base64url')}`
  return {
    secretOf,
    send: (destination, alert) =>
      destination.kind === 'email'
        ? sendMail(parts, destination, alert)
        : sendWebhook(parts, { ...destination, secret: secretOf(destination.id) }, alert),
  }
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
  const call = {
    method: 'POST',
    url,
    headers,
    body: Buffer.from(body),
    timeouts: TIMEOUTS,
  } as const
  const status = await statusOf(http, call).catch((thrown: unknown) => {
    throw new Error(webhookFailure(thrown, url).text, { cause: thrown })
  })
  if (status >= 200 && status < 300) return `answered ${status}`
  throw new Error(`answered ${status}`)
}

async function statusOf(http: HttpClient, call: HttpCall): Promise<number> {
  const { status, body } = await http.send(call, AbortSignal.timeout(TIMEOUTS.totalMs))
  for await (const _ of body) {
    // The body is ignored, but must be read for the connection to be reused.
  }
  return status
}

async function sendMail(
  { mailer }: SenderParts,
  { address }: Destination,
  alert: Alert,
): Promise<string> {
  if (mailer === undefined) throw new Error(SENTENCES.no_smtp)
  const { subject, text } = letterOf(alert)
  await mailer.send({ to: address, subject: `Tollgate: ${subject}`, text: `${text}\n` })
  return 'taken by the mail server'
}

function alertJson(alert: Alert) {
  const isFrame = alert.accountId === FRAME_ID
  const given = {
    id: alert.id,
    created_at: iso(alert.at),
    text: inChat(letterOf(alert).text),
    scope: isFrame ? 'frame' : 'key',
    key: isFrame ? null : { id: alert.accountId, name: alert.accountName },
  }
  if (alert.kind === 'expiry') {
    return {
      ...given,
      type: 'key.expires_soon',
      days_before: alert.daysBefore,
      expires_at: iso(alert.expiresAt),
    }
  }
  const spending = {
    spent: usd(alert.spentNanodollars),
    limit: usd(alert.limitNanodollars),
    resets_at: iso(alert.resetsAt),
  }
  if (alert.kind === 'refused') {
    const required = usd(alert.requiredNanodollars)
    return { ...given, type: 'budget.calls_refused', required, ...spending }
  }
  const { threshold } = alert
  return { ...given, type: 'budget.threshold_reached', threshold, ...spending }
}

/** Slack and Mattermost show this text. Unescaped, a name in <…> could notify a whole channel or become a link. */
function inChat(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
