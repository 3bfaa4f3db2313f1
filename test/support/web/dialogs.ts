// How every menu and dialog of the interface is opened, on a gateway that is furnished (furnished.ts). Those that only a
// failure or another person brings about are in the tests of that: conflicts, ended sessions, code that cannot be loaded,
// asking for more.
import type en from '../../../web/src/i18n/en.json'
import type { Furniture } from './furnished.ts'
import { administrator } from './web.ts'

export type Texts = typeof en

/** A button, link, checkbox or menu item to press; a field and what is typed into it; or the key that lists shortcuts. */
export type Step = string | readonly [field: string, text: string]

export type Opening = {
  readonly path: (ids: Furniture) => string
  /** From the page to what is looked at. */
  readonly steps: readonly Step[]
  /** 1440 unless given. */
  readonly width?: number
  /** Asks in one more dialog before what it shows, or what was typed, is lost. */
  readonly asks?: 'to close' | 'to leave the page'
}

/** In one language; in the same order in each. */
export function openingsIn(texts: Texts): readonly Opening[] {
  return [...ofKeys(texts), ...ofGroups(texts), ...ofPeople(texts), ...ofEverybody(texts)]
}

/** One after each of these steps, on the same page after the same first steps. */
function each(
  path: Opening['path'],
  first: readonly Step[],
  last: readonly string[],
): readonly Opening[] {
  return last.map((step) => ({ path, steps: [...first, step] }))
}

function menuOf({ overview }: Texts, name: string): string {
  return overview.actionsFor.replace('{{name}}', name)
}

function ofKeys(texts: Texts): readonly Opening[] {
  const { action, bulk, overview, detail, keyForm, framePage, alerts } = texts
  const list = () => '/settings/api-access'
  const edit = ({ key }: Furniture) => `/settings/api-access/${key}/edit`
  const frame = () => '/settings/api-access/frame'
  const crawler = menuOf(texts, 'crawler')
  const rotate = [crawler, action.rotate, texts.rotate.action]
  const changes = [bulk.add_models, bulk.remove_models, bulk.budget, bulk.expiry, bulk.group]
  const others = [bulk.tag, bulk.pause, bulk.resume, bulk.revoke]
  const playground = ({ key }: Furniture) => `/settings/playground?key=${key}`
  const { message, send, code } = texts.playground
  return [
    { path: list, steps: [crawler] },
    { path: list, steps: [overview.filters] },
    { path: list, steps: [overview.view] },
    ...each(list, [crawler], [action.test, action.rotate, action.topUp]),
    ...each(list, [crawler], [action.reset, action.pause, action.revoke]),
    { path: list, steps: rotate, asks: 'to close' },
    ...each(
      list,
      [overview.selectAll],
      [...changes, ...others].map(({ label }) => label),
    ),
    { path: ({ rotated }) => `/settings/api-access/${rotated}`, steps: [detail.endNow] },
    {
      path: edit,
      steps: [[keyForm.field.description, 'another'], keyForm.review],
      asks: 'to leave the page',
    },
    ...each(frame, [], [framePage.edit, action.topUp, action.reset]),
    { path: playground, steps: [[message, 'Hello'], send, code] },
    { path: () => '/settings/alerts', steps: [alerts.add] },
    {
      path: () => '/settings/alerts',
      steps: [
        alerts.add,
        // In another language it is another.
        [texts.column.name, alerts.url],
        [alerts.url, 'https://hooks.example.com/night'],
        alerts.add,
      ],
      asks: 'to close',
    },
    ...each(
      () => '/settings/alerts',
      [],
      [alerts.editWhat, alerts.removeWhat].map((words) => words.replace('{{name}}', 'on-call')),
    ),
  ]
}

function ofGroups(texts: Texts): readonly Opening[] {
  const { action, groups, members, people, wishes, myKeys, overview } = texts
  const page = ({ group }: Furniture) => `/settings/groups/${group}`
  const list = ({ group }: Furniture) => `/settings/groups/${group}?tab=members`
  const own = () => '/settings/my-keys'
  const search = menuOf(texts, 'search')
  const dana = menuOf(texts, 'Dana Developer')
  return [
    { path: page, steps: [search] },
    ...each(page, [search], [action.topUp, action.reset, groups.archive]),
    { path: list, steps: [dana] },
    ...each(list, [dana], [members.role, members.move, members.remove]),
    { path: list, steps: [people.invite] },
    { path: own, steps: [menuOf(texts, 'my notebook')] },
    ...each(own, [], [overview.create, myKeys.code]),
    ...each(() => '/settings/wishes', [], [wishes.grant, wishes.decline]),
  ]
}

function ofPeople(texts: Texts): readonly Opening[] {
  const { people, roles, action } = texts
  const list = () => '/settings/people'
  const dana = menuOf(texts, 'Dana Developer')
  const auditor = menuOf(texts, 'Auditor')
  const { password, signOut, block, remove, invite } = people.action
  const guest = `${people.invite.toLowerCase()}@example.com`
  return [
    { path: list, steps: [dana] },
    ...each(list, [dana], [people.edit, password.label, signOut.label, block.label, remove.label]),
    { path: list, steps: [menuOf(texts, 'Bob'), invite.label] },
    { path: list, steps: [people.invite] },
    {
      path: list,
      steps: [people.invite, [texts.signIn.email, guest], people.invite],
      asks: 'to close',
    },
    { path: () => '/settings/roles', steps: [auditor] },
    ...each(() => '/settings/roles', [auditor], [action.edit, roles.remove]),
    { path: () => '/settings/roles', steps: [roles.create] },
  ]
}

function ofEverybody(texts: Texts): readonly Opening[] {
  const { profile, preferences, account, nav } = texts
  const own = () => '/settings/profile'
  const password = [profile.currentPassword, administrator.password] as const
  return [
    ...each(own, [], [preferences.language, preferences.theme, account.menu]),
    ...each(own, [], [profile.changeEmail, profile.newToken, profile.signOutEverywhere]),
    {
      path: own,
      steps: [profile.newToken, [profile.tokenName, 'trial'], password, profile.createToken],
      asks: 'to close',
    },
    { path: own, steps: [profile.revokeToken.replace('{{name}}', 'nightly report')] },
    { path: own, steps: [profile.startTwoFactor] },
    { path: own, steps: [profile.startTwoFactor, password, profile.startTwoFactorTitle] },
    { path: own, steps: ['?'] },
    { path: own, steps: [nav.open], width: 390 },
  ]
}
