// The members of a group in a real browser on a real gateway: invited, given another role, moved with their keys, taken out
// and removed once it is decided what becomes of their keys.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  administrator,
  choose,
  openSignedInWeb,
  picture,
  type SignedInWeb,
} from '../../support/web/web.ts'

describe('members of a group', () => {
  let web: SignedInWeb
  let page: Page
  let search = ''
  let billing = ''
  let devId = ''

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    search = String((await web.ask('POST', '/groups', { name: 'search' }))['id'])
    billing = String((await web.ask('POST', '/groups', { name: 'billing' }))['id'])
  })
  after(() => web.close())

  const newKey = async (name: string, group: string): Promise<string> => {
    const body = { name, group, owner_person: devId, models: ['sandbox-chat'], budget: '1' }
    return String((await web.ask('POST', '/keys', body))['id'])
  }
  const row = () => page.getByRole('row', { name: /dev@example\.com/ })

  test('the button that invites is there with the list, and does not move from under the focus', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/members', async (route) => {
      await held
      await route.continue()
    })
    await page.goto(`${web.url}/settings/groups/${search}?tab=members`)
    await page.getByRole('tab', { name: 'Members', selected: true }).waitFor()
    const invite = page.getByRole('button', { name: 'Invite' })
    assert.equal(await invite.count(), 0)
    release()
    await invite.focus()
    await page.getByRole('heading', { name: 'No members' }).waitFor()
    assert.ok(await invite.and(page.locator(':focus')).isVisible())
    await page.unroute('**/members')
  })

  test('somebody new is invited with a link, somebody known is a member at once', async () => {
    await web.open(`/settings/groups/${search}?tab=members`)
    await page.getByRole('heading', { name: 'No members' }).waitFor()
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite into search' })
    await dialog.getByLabel('E-mail address').fill('dev@example.com')
    await dialog.getByLabel('Name').fill('Dev')
    assert.equal(await dialog.getByLabel('Role').inputValue(), 'member')
    await picture(page, 'members-invite')
    await dialog.getByRole('button', { name: 'Invite' }).press('Enter')
    const link = page.getByRole('dialog', { name: /Dev/ })
    await link.getByText(/\/invitation#/).waitFor()
    await link.getByRole('button', { name: 'Copy' }).click()
    await link.getByRole('button', { name: 'Done' }).click()
    await row().getByText('Member', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Invite' }).click()
    await dialog.getByLabel('E-mail address').fill(administrator.email)
    await dialog.getByRole('button', { name: 'Invite' }).click()
    await page.getByText(`${administrator.email} is a member of search.`).waitFor()
    await dialog.waitFor({ state: 'detached' })
    const { members } = await web.ask('GET', `/groups/${search}/members`)
    const dev = (members as { id: string; email: string }[]).find(({ email }) => /^dev/.test(email))
    devId = dev?.id ?? ''
  })

  test('a member is given another role', async () => {
    await choose(page, 'Dev', 'Change role')
    const dialog = page.getByRole('dialog', { name: 'Role of Dev in search' })
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await row().getByText('Viewer').waitFor()
  })

  test('a member moves into another group, and their keys with them', async () => {
    const key = await newKey('notebook', search)
    await choose(page, 'Dev', 'Move')
    const dialog = page.getByRole('dialog', { name: 'Move Dev into another group' })
    await dialog.getByText('They own 1 key').waitFor()
    await dialog.getByLabel('Group').selectOption('billing')
    assert.equal(await dialog.getByRole('button', { name: 'Move' }).isDisabled(), true)
    await dialog.getByLabel('They move along').check()
    await picture(page, 'members-move')
    await dialog.getByRole('button', { name: 'Move' }).click()
    await page.getByText('Dev has moved.').waitFor()
    await row().waitFor({ state: 'detached' })
    const { group } = await web.ask('GET', `/keys/${key}`)
    assert.equal(Object(group).id, billing)
  })

  test('whoever is taken out leaves keys to somebody else', async () => {
    await web.ask('PUT', `/groups/${billing}/members/${administrator.email}`, { role: 'manager' })
    await web.follow(`/settings/groups/${billing}?tab=members`)
    await choose(page, 'Dev', 'Take out')
    const dialog = page.getByRole('dialog', { name: 'Take Dev out of billing?' })
    await dialog.getByText('notebook').waitFor()
    await dialog.getByLabel('Somebody else gets them').check()
    const take = dialog.getByRole('button', { name: 'Take out' })
    assert.equal(await take.isDisabled(), true)
    await dialog.getByLabel('Who gets them').selectOption(administrator.name)
    await picture(page, 'members-remove')
    await take.click()
    await page.getByText('Dev is no longer a member.').waitFor()
    const { keys } = await web.ask('GET', '/keys?search=notebook')
    assert.equal(Object((keys as unknown[])[0]).owner_person.email, administrator.email)
  })

  test('a person is removed once their keys are decided on', async () => {
    const key = await newKey('left over', billing)
    await web.follow('/settings/people')
    await choose(page, 'Dev', 'Remove')
    const dialog = page.getByRole('dialog', { name: /Dev/ })
    await dialog.getByText('left over').waitFor()
    await dialog.getByLabel('They are paused').check()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('row', { name: /dev@example\.com/ }).waitFor({ state: 'detached' })
    assert.equal((await web.ask('GET', `/keys/${key}`))['status'], 'paused')
  })
})
