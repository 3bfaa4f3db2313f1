// The handlers of wishes: what owners of keys ask for, and what those who manage them decide. Whoever asked learns the
// outcome by mail, where there is a mail server.
import {
  addWish,
  countOpenWishes,
  declineWish,
  findWish,
  grantWish,
  listWishes,
  wantedJson,
  wishJson,
  withdrawWish,
  type Wanted,
  type Wish,
} from '../../store/keys/wishes.ts'
import { findPerson } from '../../store/people/people.ts'
import { describeError } from '../../telemetry/log.ts'
import type { WishAnswer, wishRoutes } from '../contract/people.ts'
import { storeOf, type AdminParts, type HandlersOf } from '../http/request.ts'
import { readAmount } from '../keys/change-request.ts'
import type { Mail, Mailer } from '../people/email.ts'

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
      return wishJson(await addWish(storeOf(parts, request), asked))
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

async function tell({ store, mailer, log, publicUrl }: WishParts, wish: Wish): Promise<WishAnswer> {
  const person = await findPerson(store.db, { id: wish.personId })
  if (person?.status === 'active') {
    const mail = { to: person.email, ...mailOf(wish, `${publicUrl}/settings/my-keys`) }
    await mailer?.send(mail).catch((thrown: unknown) => {
      log.warn('mail_failed', { cause: describeError(thrown) })
    })
  }
  return wishJson(wish)
}

function mailOf({ key, wanted, decision, state }: Wish, url: string): Omit<Mail, 'to'> {
  // In a subject it must stay on one line.
  const name = `"${key.name.replaceAll(/\s+/g, ' ')}"`
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
  const { budget, models, expires_at: expiry } = wantedJson(wanted)
  return [
    ...(budget === undefined ? [] : [`a budget of ${budget} USD`]),
    ...(models === undefined ? [] : [`the models ${models.join(', ')}`]),
    ...(expiry === undefined ? [] : [`an expiry on ${expiry.slice(0, 10)}`]),
  ].join('; ')
}
