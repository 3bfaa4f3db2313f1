// How every menu and dialog of the interface is opened, on a gateway that is furnished (furnished.ts). What is shown when
// code cannot be loaded is in the tests of failures.
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
  /** Comes before the last step: somebody else changes the same thing, or the session ends. */
  readonly meanwhile?: 'key changed' | 'frame changed' | 'session ended'
  /** What the last step adds to the dialog that it is in, which stays open. */
  readonly adds?: string
  /** Asks in one more dialog before what it shows, or what was typed, is lost; or does not close without a sign-in. */
  readonly asks?: 'to close' | 'to leave the page' | 'to sign in'
  /** The administrator unless given. */
  readonly by?: 'developer'
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

function byDeveloper(opening: Opening): Opening {
  return { ...opening, by: 'developer' }
}

function menuOf({ overview }: Texts, name: string): string {
  return overview.actionsFor.replace('{{name}}', name)
}

function ofKeys(texts: Texts): readonly Opening[] {
  const { action, bulk, overview, detail, keyForm, framePage, alerts } = texts
  const list = () => '/settings/api-access'
  const edit = ({ key }: Furniture) => `/settings/api-access/${key}/edit`
  const frame = () => '/settings/api-access/frame'
  const change = [[keyForm.field.description, 'another'], keyForm.review] as const
  const crawler = menuOf(texts, 'crawler')
  const columns = encodeURIComponent('["models","limits"]')
  const models = texts.models.count_other.replace('{{count}}', '2')
  const rotate = [crawler, action.rotate, texts.rotate.action]
  const changes = [bulk.add_models, bulk.remove_models, bulk.budget, bulk.expiry, bulk.group]
  const others = [bulk.tag, bulk.pause, bulk.resume, bulk.revoke]
  const playground = ({ key }: Furniture) => `/settings/playground?key=${key}`
  const { message, send, code } = texts.playground
  return [
    { path: list, steps: [crawler] },
    { path: list, steps: [overview.filters] },
    { path: list, steps: [overview.view] },
    ...each(() => `/settings/api-access?columns=${columns}`, [], [models, texts.permissions.all]),
    ...each(list, [crawler], [action.test, action.rotate, action.topUp]),
    ...each(list, [crawler], [action.reset, action.pause, action.revoke]),
    { path: list, steps: rotate, asks: 'to close' },
    ...each(
      list,
      [overview.selectAll],
      [...changes, ...others].map(({ label }) => label),
    ),
    { path: ({ rotated }) => `/settings/api-access/${rotated}`, steps: [detail.endNow] },
    { path: edit, steps: change, asks: 'to leave the page' },
    {
      path: edit,
      steps: [...change, keyForm.save],
      meanwhile: 'key changed',
      asks: 'to leave the page',
    },
    {
      path: frame,
      steps: [framePage.edit, [keyForm.field.budget, '123'], keyForm.save],
      meanwhile: 'frame changed',
      adds: framePage.changedMeanwhile,
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
    {
      path: () => '/settings/alerts',
      steps: [alerts.testWhat.replace('{{name}}', 'on-call')],
      meanwhile: 'session ended',
      asks: 'to sign in',
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
    { path: own, steps: [wishes.ask], by: 'developer' },
    ...each(() => '/settings/wishes', [], [wishes.grant, wishes.decline]),
  ]
}

function ofPeople(texts: Texts): readonly Opening[] {
  const { people, roles, action, trySignOn } = texts
  const list = () => '/settings/people'
  const dana = menuOf(texts, 'Dana Developer')
  const auditor = menuOf(texts, 'Auditor')
  const { password, twoFactor, unlink, signOut, block, unblock, remove, invite } = people.action
  const actions = [password, twoFactor, unlink, signOut, block, remove].map(({ label }) => label)
  const guest = `${people.invite.toLowerCase()}@example.com`
  return [
    { path: list, steps: [dana] },
    ...each(list, [dana], [people.edit, ...actions]),
    { path: list, steps: [menuOf(texts, 'Erin'), unblock.label] },
    { path: list, steps: [trySignOn.open] },
    { path: list, steps: [trySignOn.open, trySignOn.action], adds: trySignOn.notAdmitted },
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
    ...each(own, [], [profile.newCodes, profile.endTwoFactor]).map(byDeveloper),
    {
      path: own,
      steps: [profile.newCodes, password, profile.newCodes],
      asks: 'to close',
      by: 'developer',
    },
    { path: own, steps: ['?'] },
    { path: own, steps: [nav.open], width: 390 },
  ]
}
