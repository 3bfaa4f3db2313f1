// Who is calling, with a mark where that is known. It takes the place of access/authenticate.ts in the build that is
// measured step by step.
import { channel } from 'node:diagnostics_channel'
import {
  authenticate as authenticateReal,
  type Authenticator,
  type Caller,
  type Credentials,
} from '../../src/access/authenticate.ts'
import { STAGE_CHANNEL, type MarkName } from './names.ts'

export * from '../../src/access/authenticate.ts'

const stages = channel(STAGE_CHANNEL)

export async function authenticate(
  authenticator: Authenticator,
  credentials: Credentials,
  trace: { keyId?: string; groupId?: string | null },
): Promise<Caller> {
  const caller = await authenticateReal(authenticator, credentials, trace)
  stages.publish('key known' satisfies MarkName)
  return caller
}
