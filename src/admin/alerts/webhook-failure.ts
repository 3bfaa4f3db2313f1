// Why a webhook did not arrive, in words for the person who set its address. The HTTP client's errors speak of
// providers, which are not involved here.
import { GatewayError } from '../../core/errors.ts'
import { sentence, sentenceAmong, type Sentence } from '../../core/sentences.ts'
import { METADATA_CODE } from '../../providers/upstream/addresses.ts'

export function webhookFailure(thrown: unknown, { hostname: host }: URL): Sentence {
  const causes = causesOf(thrown)
  const code = causes.map(codeOf).find((each) => each !== undefined)
  const known = code === undefined ? undefined : REASONS[code]
  if (known !== undefined) return sentence(known, { host })
  if (code !== undefined && /CERT|TLS|SSL|SELF_SIGNED/.test(code)) {
    return sentence('webhook_certificate', { host, code })
  }
  const isLate = causes.some((each) => each instanceof GatewayError && isTimeout(each))
  if (isLate) return sentence('webhook_late', { host })
  const why = code ?? causes.findLast((each) => !(each instanceof GatewayError))?.message
  return why === undefined
    ? sentence('webhook_failed', { host })
    : sentence('webhook_failed_because', { host, why })
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

type HostSentence =
  | 'webhook_no_host'
  | 'webhook_no_lookup'
  | 'webhook_refused'
  | 'webhook_broken_off'
  | 'webhook_no_way'
  | 'webhook_no_connection'
  | 'webhook_no_answer'
  | 'webhook_metadata'

/** The failure by name, for readers of other languages; undefined for a success, or a failure reported by others. */
export function failureNamed(result: string): Sentence | undefined {
  return sentenceAmong(FAILURES, result)
}

const FAILURES = [
  ...new Set(Object.values(REASONS)),
  'webhook_certificate',
  'webhook_late',
  'webhook_failed_because',
  'webhook_failed',
  'no_smtp',
  'destination_off',
  'destination_removed',
] as const

function isTimeout({ code }: GatewayError): boolean {
  return code === 'provider_timeout'
}

/** The error and its chain of causes. */
function causesOf(thrown: unknown): readonly Error[] {
  const causes: Error[] = []
  for (let each = thrown; each instanceof Error; each = each.cause) causes.push(each)
  return causes
}

/** The system's error code: those of GatewayErrors mean something else. */
function codeOf(error: Error): string | undefined {
  if (error instanceof GatewayError || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
