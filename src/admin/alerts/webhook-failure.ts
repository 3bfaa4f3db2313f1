// Why a webhook did not arrive, in words for whoever set its address. The client speaks of providers; here none is meant.
import { GatewayError } from '../../core/errors.ts'

export function webhookFailure(thrown: unknown, { hostname }: URL): string {
  const causes = causesOf(thrown)
  const code = causes.map(codeOf).find((each) => each !== undefined)
  const known = code === undefined ? undefined : REASONS[code]
  if (known !== undefined) return `${known} (${hostname})`
  if (code !== undefined && /CERT|TLS|SSL|SELF_SIGNED/.test(code)) {
    return `the certificate of ${hostname} is not valid (${code})`
  }
  const isLate = causes.some((each) => each instanceof GatewayError && isTimeout(each))
  if (isLate) return `${hostname} did not answer in time`
  const why = code ?? causes.findLast((each) => !(each instanceof GatewayError))?.message
  return `the connection to ${hostname} failed${why === undefined ? '' : `: ${why}`}`
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'the name of the host could not be looked up just now',
  ECONNREFUSED: 'the connection was refused: nothing listens at this address',
  ECONNRESET: 'the connection was broken off by the other side',
  EPIPE: 'the connection was broken off by the other side',
  UND_ERR_SOCKET: 'the connection was broken off by the other side',
  EHOSTUNREACH: 'there is no way to this host',
  ENETUNREACH: 'there is no way to this host',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about in time',
  UND_ERR_HEADERS_TIMEOUT: 'the host took the message but did not answer in time',
}

function isTimeout({ code }: GatewayError): boolean {
  return code === 'provider_timeout'
}

/** What was thrown and, one inside the other, why. */
function causesOf(thrown: unknown): readonly Error[] {
  const causes: Error[] = []
  for (let each = thrown; each instanceof Error; each = each.cause) causes.push(each)
  return causes
}

/** The system's, not ours: GatewayErrors have codes of their own. */
function codeOf(error: Error): string | undefined {
  if (error instanceof GatewayError || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
