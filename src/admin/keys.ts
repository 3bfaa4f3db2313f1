// The handlers of /keys. The rules are in the store and the ledger; this file only maps routes to them.
import { resetSpent, topUp } from '../ledger/nodes/adjustments.ts'
import { pastPeriods } from '../store/accounts/accounts.ts'
import type { Store } from '../store/database/store.ts'
import { readFrame } from '../store/frame.ts'
import {
  createKey,
  endOverlap,
  pauseKey,
  resumeKey,
  revokeKey,
  rotateKey,
  updateKey,
} from '../store/keys/changes.ts'
import { findKey, type Key } from '../store/keys/keys.ts'
import { shownSecrets } from '../store/keys/secrets.ts'
import { changeMany } from './bulk.ts'
import type { HandlersOf } from './call.ts'
import type { KeyDetail } from './contract/key.ts'
import type { keyRoutes } from './contract/keys.ts'
import { keyDetailOf } from './key-answers.ts'
import { changeOf, settingsOf } from './key-bodies.ts'
import { KeyList } from './key-list.ts'
import { storeOf, type AdminParts } from './parts.ts'
import { testCall } from './playground.ts'
import { refusingStale } from './stale.ts'
import { etag, ifMatch, readAmount, refuseEmpty } from './values.ts'
import { verdictOf } from './verdict.ts'

const HISTORY_PERIODS = 6

export function keyHandlers(parts: AdminParts): HandlersOf<typeof keyRoutes> {
  const { store } = parts
  const list = new KeyList(parts)

  /** A change that needs only the key: made in the caller's name, and answered with the changed key. */
  const changing =
    (change: (store: Store, id: string) => Promise<Key>) =>
    async (call: Changing): Promise<KeyDetail> =>
      detail(parts, await change(storeOf(parts, call), call.params.id), call)

  return {
    listKeys: ({ query }) => list.page(query),
    exportKeys: ({ query }) => list.csv(query),
    createKey: async (call) => {
      const { mode, ...settings } = call.body
      const { key, secret } = await createKey(storeOf(parts, call), {
        ...settingsOf(settings),
        mode,
        secretPrefix: parts.secretPrefix(),
      })
      return { ...(await detail(parts, key, call)), secret }
    },
    changeKeys: (call) => changeMany(storeOf(parts, call), call),
    readKey: async (call) => detail(parts, await findKey(store, call.params.id), call),
    changeKey: async (call) => {
      const { id } = call.params
      const ifVersion = ifMatch(call.headers)
      refuseEmpty(call.body)
      const key = await refusingStale(store, { subjectId: id, version: ifVersion }, () =>
        updateKey(storeOf(parts, call), id, { ...changeOf(call.body), ifVersion }),
      )
      return detail(parts, key, call)
    },
    pauseKey: changing(pauseKey),
    resumeKey: changing(resumeKey),
    revokeKey: async (call) => {
      const key = await revokeKey(storeOf(parts, call), call.params.id, call.body.reason)
      return detail(parts, key, call)
    },
    rotateKey: async (call) => {
      const { key, secret } = await rotateKey(storeOf(parts, call), call.params.id, {
        overlapMs: call.body.overlap_seconds * 1_000,
        secretPrefix: parts.secretPrefix(),
      })
      return { ...(await detail(parts, key, call)), secret }
    },
    endOverlap: changing(endOverlap),
    resetKey: async (call) => {
      const { id: accountId } = await findKey(store, call.params.id)
      await resetSpent(storeOf(parts, call), { accountId, reason: call.body.reason })
      return detail(parts, await findKey(store, accountId), call)
    },
    topUpKey: async (call) => {
      const { id: accountId } = await findKey(store, call.params.id)
      const amountNanodollars = readAmount('amount', call.body.amount)
      const { reason } = call.body
      await topUp(storeOf(parts, call), { accountId, amountNanodollars, reason })
      return detail(parts, await findKey(store, accountId), call)
    },
    testKey: (call) => testCall(parts, call.params.id, call.body.model),
    readLimits: ({ params, query }) => verdictOf(parts, params.id, query.model),
  }
}

type Changing = Parameters<HandlersOf<typeof keyRoutes>['pauseKey']>[0]

/** One key, with the ETag that a change to it must send back. */
async function detail(
  { store, catalog, clock }: AdminParts,
  key: Key,
  { setHeader }: { setHeader(name: string, value: string): void },
): Promise<KeyDetail> {
  const [frame, secrets, history] = await Promise.all([
    readFrame(store),
    shownSecrets(store, [key.id]),
    pastPeriods(store, key.id, HISTORY_PERIODS),
  ])
  setHeader('etag', etag(key.version))
  const around = { frame, catalog: catalog(), secrets: secrets.get(key.id), now: clock.now() }
  return keyDetailOf(key, around, history)
}
