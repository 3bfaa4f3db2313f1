// The handlers of /keys and /frame. The rules are in the store and the ledger; this file only maps routes to them.
import { resetSpent, topUp } from '../../ledger/nodes/adjustments.ts'
import { pastPeriods } from '../../store/accounts/accounts.ts'
import { StoreError } from '../../store/database/errors.ts'
import type { Store } from '../../store/database/store.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { readFrame, setFrame } from '../../store/frame.ts'
import { exhaustedGroups } from '../../store/groups/groups.ts'
import { readAllocated } from '../../store/keys/counts.ts'
import { findKey, keyNames, type Key } from '../../store/keys/keys.ts'
import {
  createKey,
  endOverlap,
  pauseKey,
  resumeKey,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../store/keys/lifecycle.ts'
import { keyLabels, lastRefusals } from '../../store/keys/search.ts'
import { shownSecrets } from '../../store/keys/secrets.ts'
import { AdminError } from '../contract/errors.ts'
import type { frameRoutes } from '../contract/groups.ts'
import type { KeyDetail, keyRoutes } from '../contract/keys.ts'
import { errorJson, toAdminError } from '../http/errors.ts'
import { partsOf, storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { testCall, verdictOf } from '../trial/results.ts'
import {
  budgetNameOf,
  changeOf,
  changeVersion,
  etag,
  frameAnswerOf,
  frameChangeOf,
  HISTORY_PERIODS,
  historyOf,
  keyDetailOf,
  legsChangeOf,
  readAmount,
  settingsOf,
} from './form.ts'
import { KeyList } from './list.ts'

export function keyHandlers(parts: AdminParts): HandlersOf<typeof keyRoutes> {
  const list = new KeyList(parts)

  /** A change that needs only the key: made in the caller's name, and answered with the changed key. */
  const changing =
    (change: (store: Store, id: string) => Promise<Key>) =>
    async (request: Changing): Promise<KeyDetail> =>
      detail(parts, await change(storeOf(parts, request), request.params.id), request)

  return {
    listKeys: (request) => list.page(storeOf(parts, request), request.query),
    listLabels: (request) => keyLabels(storeOf(parts, request)),
    exportKeys: (request) => list.csv(storeOf(parts, request), request.query),
    createKey: async (request) => {
      const { mode, ...settings } = request.body
      const { key, secret } = await createKey(storeOf(parts, request), {
        ...settingsOf(settings),
        legs: legsChangeOf(settings),
        mode,
        secretPrefix: parts.secretPrefix(),
      })
      return { ...(await detail(parts, key, request)), secret }
    },
    findKey: async (request) =>
      detail(parts, await keyNamed(storeOf(parts, request), request.query.name), request),
    changeKeys: (request) => changeMany(storeOf(parts, request), request),
    readKey: async (request) =>
      detail(parts, await findKey(storeOf(parts, request), request.params.id), request),
    changeKey: async (request) => {
      const { id } = request.params
      const store = storeOf(parts, request)
      const key = await changeVersion(store, { ...request, subjectId: id }, async (ifVersion) => {
        const change = changeOf(request.body, await cappedModels(store, id))
        return updateKey(store, id, { ...change, ifVersion })
      })
      return detail(parts, key, request)
    },
    pauseKey: changing(pauseKey),
    resumeKey: changing(resumeKey),
    revokeKey: async (request) => {
      const key = await revokeKey(storeOf(parts, request), request.params.id, request.body.reason)
      return detail(parts, key, request)
    },
    rotateKey: async (request) => {
      const { key, secret } = await rotateKey(storeOf(parts, request), request.params.id, {
        overlapMs: request.body.overlap_seconds * 1_000,
        secretPrefix: parts.secretPrefix(),
      })
      return { ...(await detail(parts, key, request)), secret }
    },
    endOverlap: changing(endOverlap),
    ...balanceHandlers(parts),
    testKey: (request) => testCall(partsOf(parts, request), request.params.id, request.body.model),
    readLimits: (request) =>
      verdictOf(partsOf(parts, request), request.params.id, request.query.model),
  }
}

type BalanceRoutes = Pick<typeof keyRoutes, 'resetKey' | 'topUpKey'>

function balanceHandlers(parts: AdminParts): HandlersOf<BalanceRoutes> {
  return {
    resetKey: async (request) => {
      const store = storeOf(parts, request)
      const { id: accountId } = await findKey(store, request.params.id)
      const budget = budgetNameOf(request.body)
      await resetSpent(store, { ...request.body, accountId, budget })
      return detail(parts, await findKey(store, accountId), request)
    },
    topUpKey: async (request) => {
      const store = storeOf(parts, request)
      const { id: accountId } = await findKey(store, request.params.id)
      const amountNanodollars = readAmount('amount', request.body.amount)
      const budget = budgetNameOf(request.body)
      await topUp(store, {
        ...request.body,
        accountId,
        budget,
        amountNanodollars,
      })
      return detail(parts, await findKey(store, accountId), request)
    },
  }
}

type Changing = Parameters<HandlersOf<typeof keyRoutes>['pauseKey']>[0]

/** One key, with the ETag that a change to it must send back. */
async function detail(
  { store, catalog, clock }: AdminParts,
  key: Key,
  { setHeader, scope }: Pick<Changing, 'setHeader' | 'scope'>,
): Promise<KeyDetail> {
  const [frame, exhausted, secrets, refused, history] = await Promise.all([
    readFrame(store),
    exhaustedGroups(store, key.groupId === null ? [] : [key.groupId]),
    shownSecrets(store, [key.id]),
    lastRefusals(store, [key.id]),
    pastPeriods(store, key.id, HISTORY_PERIODS),
  ])
  setHeader('etag', etag(key.version))
  const around = {
    scope,
    frame,
    isGroupExhausted: exhausted.size > 0,
    catalog: catalog(),
    secrets: secrets.get(key.id),
    refusedWith: refused.get(key.id),
    now: clock.now(),
  }
  return keyDetailOf(key, around, history)
}

/** Unlike with an id, several may have the name: the refusal says what to write. */
async function keyNamed(store: Store, name: string): Promise<Key> {
  try {
    return await findKey(store, name)
  } catch (thrown) {
    const why = thrown instanceof StoreError ? thrown.sentence : undefined
    throw why === undefined ? thrown : new AdminError('not_found', why)
  }
}

type BulkCall = Parameters<HandlersOf<typeof keyRoutes>['changeKeys']>[0]

/** One change for many keys. Each key succeeds or fails alone, and the answer says which. */
async function changeMany(store: Store, { body, requestId }: BulkCall) {
  const ids = [...new Set(body.ids)]
  const names = await keyNames(store, ids)
  const results = []
  for (const id of ids) {
    const error = await changeOne(store, id, body.change).then(() => null, refusalOf)
    const told = error && errorJson(error, requestId).error
    results.push({ id, name: names.get(id) ?? null, error: told })
  }
  return { results }
}

async function changeOne(
  store: Store,
  id: string,
  change: BulkCall['body']['change'],
): Promise<Key> {
  switch (change.action) {
    case 'pause':
      return pauseKey(store, id)
    case 'resume':
      return resumeKey(store, id)
    case 'revoke':
      return revokeKey(store, id, change.reason)
    case 'update': {
      const { add_tags: addTags, remove_tags: removeTags, ...settings } = change.settings
      const capped = await cappedModels(store, id)
      return updateKey(store, id, { ...changeOf(settings, capped), addTags, removeTags })
    }
  }
}

async function cappedModels(store: Store, id: string): Promise<readonly string[]> {
  return (await findKey(store, id)).modelBudgets.map(({ model }) => model)
}

/** An outage concerns all keys: it ends the request, instead of being reported a thousand times. */
function refusalOf(thrown: unknown): AdminError {
  const error = toAdminError(thrown)
  if (error.status >= 500) throw error
  return error
}

export function frameHandlers(parts: AdminParts): HandlersOf<typeof frameRoutes> {
  const { store, clock } = parts

  async function answer(request: { setHeader(name: string, value: string): void }) {
    const frame = await readFrame(store)
    request.setHeader('etag', etag(frame.version))
    const history = historyOf(await pastPeriods(store, FRAME_ID, HISTORY_PERIODS))
    return { ...frameAnswerOf(frame, await readAllocated(store), clock.now()), history }
  }

  return {
    readFrame: (request) => answer(request),
    changeFrame: async (request) => {
      await changeVersion(store, { ...request, subjectId: FRAME_ID }, (ifVersion) => {
        return setFrame(storeOf(parts, request), { ...frameChangeOf(request.body), ifVersion })
      })
      return answer(request)
    },
    topUpFrame: async (request) => {
      const amountNanodollars = readAmount('amount', request.body.amount)
      const on = { accountId: FRAME_ID, budget: budgetNameOf(request.body) }
      await topUp(storeOf(parts, request), { ...request.body, ...on, amountNanodollars })
      return answer(request)
    },
    resetFrame: async (request) => {
      const on = { accountId: FRAME_ID, budget: budgetNameOf(request.body) }
      await resetSpent(storeOf(parts, request), { ...request.body, ...on })
      return answer(request)
    },
  }
}
