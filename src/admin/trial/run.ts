// A request that a person makes with a key without knowing its secret: through the gateway's own flow, subject to every
// limit of that key, and spending from it.
import { assertUsable, callerOfKey, withCurrentKey } from '../../access/authenticate.ts'
import { permitEndpoint } from '../../access/permit.ts'
import type { Endpoint, Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import { exchange } from '../../exchange/exchange.ts'
import type { Key } from '../../store/keys/keys.ts'
import type { Trace } from '../../telemetry/trace.ts'
import { CODECS } from '../../wire/codecs.ts'
import { callBody, type Spoken } from '../contract/trial.ts'
import type { AdminParts } from '../http/request.ts'
import type { TrialReply } from './reply.ts'

export type TrialRequest = Spoken & {
  readonly requestId: string
  readonly key: Key
  readonly isDryRun: boolean
}

/** Somebody who is signed in called, not an application. */
const PERSON = { userAgent: undefined, address: null }

/** Throws the GatewayError that the data plane would have answered with. */
export async function runTrial(
  parts: AdminParts,
  trial: TrialRequest,
  reply: TrialReply,
): Promise<void> {
  const { flow, store, clock } = parts
  const { requestId } = trial
  const format = formatOf(parts, trial)
  const body = Buffer.from(JSON.stringify(bodyOf(format, trial, reply)))
  const trace: Trace = { requestId, endpoint: format, keyId: trial.key.id }
  const run = async (): Promise<void> => {
    const caller = await callerOfKey(store, trial.key.id)
    trace.groupId = caller.groupId
    assertUsable(caller, clock.now())
    // Checking whether a key would work does not count as using it.
    if (!trial.isDryRun) flow.lastUse.note(caller)
    permitEndpoint(caller, format)
    const inbound = {
      requestId,
      caller,
      endpoint: format,
      codec: CODECS[format],
      id: '',
      query: new URLSearchParams(),
      providerHeaders: new Map(),
      dropped: [],
      session: undefined,
      endUser: undefined,
      tags: undefined,
      startedMs: clock.monotonicMs(),
      trace,
      traceHeaders: {},
      readDryRun: () => trial.isDryRun,
      readBody: async () => body,
      releaseBody: () => {},
    }
    await exchange(flow, inbound, reply)
  }
  await withCurrentKey(run, () => {}).catch((thrown: unknown) => {
    if (thrown instanceof GatewayError && !trial.isDryRun)
      flow.refusals.note({ error: thrown, trace, client: () => PERSON })
    throw thrown
  })
}

/** The endpoint that a program with this key would use for this model; if it may use none, the first. */
export function formatOf(
  { catalog }: AdminParts,
  { key, model }: Pick<TrialRequest, 'key' | 'model'>,
): Format & Endpoint {
  if (catalog().get(model)?.kind === 'embedding') return 'embeddings'
  const formats = ['chat', 'messages', 'responses'] as const
  return formats.find((format) => key.permissions.includes(format)) ?? 'chat'
}

/** A person who tries something leaves nothing behind to refer to later. */
function bodyOf(format: Format, trial: TrialRequest, { isStream }: TrialReply): object {
  return {
    ...callBody(format, trial),
    ...(format === 'responses' && { store: false }),
    ...(isStream && { stream: true }),
  }
}
