// The handlers of wishes: what owners of keys ask for, and what those who manage them decide. Where there is a mail server,
// those who can decide learn of it by mail, and whoever asked learns the outcome.
import type { Store } from '../../store/database/store.ts'
import { listMembers } from '../../store/groups/members.ts'
import {
  addWish,
  countOpenWishes,
  declineWish,
  findWish,
  grantWish,
  listWishes,
  type Wanted,
  type Wish,
  wantedJson,
  wishJson,
  withdrawWish,
} from '../../store/keys/wishes.ts'
import { findPerson, listPeople, type Person } from '../../store/people/people.ts'
import { describeError } from '../../telemetry/log.ts'
import { wantedWords } from '../alerts/texts.ts'
import type { WishAnswer, wishRoutes } from '../contract/people.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { readAmount } from '../keys/form.ts'
import type { Mail, Mailer } from '../people/email.ts'
import { listRoles, roleById } from '../people/roles.ts'

type Handlers = HandlersOf<typeof wishRoutes>
type Granting = Parameters<Handlers['grantWish']>[0]['body']

type WishParts = AdminParts & { readonly mailer: Mailer | undefined }

export function wishHandlers(parts: WishParts): Handlers {
  return {
    listWishes: async (request) => {
      const { query } = request
      const store = storeOf(parts, request)
      const wishes = await listWishes(store, query)
      const next = wishes.length < query.limit ? null : (wishes.at(-1)?.id ?? null)
      return { wishes: wishes.map(wishJson), next, open: await countOpenWishes(store) }
    },
    addWish: async (request) => {
      const { params, person, body } = request
      const asked = { keyId: params.id, person, wanted: wantedOf(body), reason: body.reason }
      const wish = await addWish(storeOf(parts, request), asked)
      await tellManagers(parts, wish)
      return wishJson(wish)
    },
    grantWish: async (request) => {
      const store = storeOf(parts, request)
      const { wanted } = await findWish(store, request.params.id)
      const given = givenOf(wanted, request.body)
      const answer = request.body.reason
      return tell(parts, await grantWish(store, request.params.id, { given, answer }))
    },
    declineWish: async (request) => {
      const { params, body } = request
      return tell(parts, await declineWish(storeOf(parts, request), params.id, body.reason))
    },
    withdrawWish: async (request) => {
      const { params, person } = request
      return wishJson(await withdrawWish(storeOf(parts, request), params.id, person.id))
    },
  }
}

function wantedOf({ budget, models, expires_at: expiry }: Omit<Granting, 'reason'>): Wanted {
  return {
    limitNanodollars: typeof budget === 'string' ? readAmount('budget', budget) : undefined,
    addModels: models?.length === 0 ? undefined : models,
    expiresAt: typeof expiry === 'string' ? Date.parse(expiry) : undefined,
  }
}

/** What was asked for, except where the grant says otherwise. */
function givenOf(wanted: Wanted, granting: Granting): Wanted {
  const other = wantedOf(granting)
  return {
    limitNanodollars:
      granting.budget === undefined ? wanted.limitNanodollars : other.limitNanodollars,
    addModels: granting.models === undefined ? wanted.addModels : other.addModels,
    expiresAt: granting.expires_at === undefined ? wanted.expiresAt : other.expiresAt,
  }
}

/** Those who manage the group of the key; where nobody does, those who manage everything. */
async function tellManagers(parts: WishParts, wish: Wish): Promise<void> {
  if (parts.mailer === undefined) return
  const { store, publicUrl } = parts
  const what = `for the key ${nameOf(wish)}`
  const mail = {
    subject: `Tollgate: ${wish.askedBy} asks for more ${what}`,
    text: `${wish.askedBy} asks for more ${what}: ${wordsOf(wish.wanted)}.\nWhy: ${wish.reason}\n\n${publicUrl}/settings/wishes\n`,
  }
  const managers = (await managersOf(store, wish.key.groupId)).filter(
    ({ id }) => id !== wish.personId,
  )
  for (const { email: to } of managers) await send(parts, { to, ...mail })
}

async function managersOf(store: Store, groupId: string | null): Promise<readonly Person[]> {
  const roles = await listRoles(store.db)
  const manages = (roleId: string): boolean =>
    roleById(roles, roleId).permissions.includes('configuration:manage')
  const people = (await listPeople(store.db)).filter(({ status }) => status === 'active')
  const members = groupId === null ? [] : await listMembers(store, groupId)
  const ofGroup = new Set(
    members.filter(({ roleId }) => manages(roleId)).map(({ personId }) => personId),
  )
  const within = people.filter(({ id }) => ofGroup.has(id))
  return within.length > 0 ? within : people.filter(({ roleId }) => manages(roleId))
}

async function tell(parts: WishParts, wish: Wish): Promise<WishAnswer> {
  const person = await findPerson(parts.store.db, { id: wish.personId })
  if (person?.status === 'active') {
    await send(parts, {
      to: person.email,
      ...mailOf(wish, `${parts.publicUrl}/settings/my-keys`),
    })
  }
  return wishJson(wish)
}

async function send({ mailer, log }: WishParts, mail: Mail): Promise<void> {
  await mailer?.send(mail).catch((thrown: unknown) => {
    log.warn('mail_failed', { cause: describeError(thrown) })
  })
}

/** In a subject it must stay on one line. */
function nameOf({ key }: Wish): string {
  return `"${key.name.replaceAll(/\s+/g, ' ')}"`
}

function mailOf(wish: Wish, url: string): Omit<Mail, 'to'> {
  const { wanted, decision, state } = wish
  const name = nameOf(wish)
  const given = decision?.given ?? null
  const lines = [
    `You asked for more for your key ${name}: ${wordsOf(wanted)}.`,
    given === null ? 'It was declined.' : `You now have: ${wordsOf(given)}.`,
    ...(decision?.answer ? [`Why: ${decision.answer}`] : []),
  ]
  const subject = `Tollgate: more for the key ${name} was ${state}`
  return { subject, text: `${lines.join('\n')}\n\n${url}\n` }
}

function wordsOf(wanted: Wanted): string {
  return wantedWords(wantedJson(wanted))
}
