// A developer who belongs to a group serves themselves, in a real browser on a real gateway: from the invitation to the
// first call, and what only the manager of the group may do.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { tokenOf } from '../../support/browser.ts'
import {
  assertOnEveryScreen,
  callModel,
  choose,
  newVisitor,
  openSignedInWeb,
  picture,
  send,
  seriousFindings,
  speakGerman,
  type SignedInWeb,
} from '../../support/web/web.ts'

const developer = {
  email: 'dev@example.com',
  name: 'Dev',
  password: 'a sentence that is long enough',
}

describe('keys of one’s own', () => {
  let web: SignedInWeb
  let page: Page
  let groupId = ''
  let keyId = ''
  const rules = {
    ...{ self_service: true, budget_max: { budget: '20', period: 'month' } },
    ...{ days_max: 30, keys_max: 2, environments: ['dev'] },
  }

  before(async () => {
    web = await openSignedInWeb()
    const group = { name: 'search', budget: '200', models: ['sandbox-chat', 'sandbox-embedding'] }
    groupId = String((await web.ask('POST', '/groups', group))['id'])
    const { link } = await web.ask('POST', '/people', {
      ...developer,
      password: undefined,
      role: 'member',
    })
    await web.ask('PUT', `/groups/${groupId}/members/${developer.email}`, { role: 'member' })
    page = await newVisitor(web)
    await page.goto(web.url + '/invitation#' + tokenOf(Object(link).url))
    await page.getByLabel('New password').fill(developer.password)
    await page.getByRole('button', { name: 'Accept invitation' }).click()
  })
  after(() => web.close())

  test('a member starts here, and is told where self-service is off', async () => {
    await page.getByRole('heading', { name: 'My keys', level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'You cannot create keys yourself' }).waitFor()
    await page.getByText('members do not create keys here').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0)
    assert.deepEqual(await seriousFindings(page), [])
    await switchOn()
    await page.reload()
    await page.getByText('0 of 2 keys').waitFor()
    await page.getByText('at most $20.00 a month for a key').waitFor()
    await picture(page, 'my-keys-none')
  })

  async function switchOn(): Promise<void> {
    const { version } = await web.ask('GET', `/groups/${groupId}`)
    const path = `${web.url}/admin/api/v1/groups/${groupId}`
    const headers = { origin: web.url, 'if-match': String(version) }
    const answer = await web.context.request.patch(path, { data: { key_rules: rules }, headers })
    assert.ok(answer.ok(), await answer.text())
  }

  test('a key is made by keyboard within the rules, and its secret makes the first call', async () => {
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Create key' })
    await dialog.getByLabel('Name').fill('notebook')
    assert.equal(await dialog.getByLabel('Budget in USD').inputValue(), '20')
    await dialog.getByLabel('Budget in USD').fill('21')
    await dialog.getByText('sandbox-embedding').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await dialog.getByRole('button', { name: 'Create key' }).press('Enter')
    await dialog.getByText(/need a budget for each key, of at most 20 USD/).waitFor()
    await dialog.getByLabel('Budget in USD').fill('15')
    await picture(page, 'my-keys-create')
    await dialog.getByRole('button', { name: 'Create key' }).press('Enter')
    const secret = await page.getByLabel(/^Secret/).inputValue()
    assert.equal((await callModel(web.url, secret, 'Say hello.')).status, 200)
    await page.getByRole('checkbox', { name: /stored/ }).check()
    await page.getByRole('button', { name: 'Done' }).click()
    const card = page.getByRole('listitem').filter({ hasText: 'notebook' })
    await card.getByText('of $15.00').waitFor()
    const { keys } = await web.ask('GET', '/keys?search=notebook')
    const [key] = keys as readonly Record<string, unknown>[]
    keyId = String(key?.['id'])
    assert.equal(Object(key?.['owner_person']).email, developer.email)
    assert.deepEqual([key?.['environment'], Object(key?.['group']).id], ['dev', groupId])
  })

  test('code for it is at hand later, without the secret', async () => {
    await page.getByRole('button', { name: 'Code', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Code for notebook' })
    await dialog.getByText('$TOLLGATE_API_KEY').first().waitFor()
    await picture(page, 'my-keys-code')
    await dialog.getByRole('button', { name: 'Close' }).last().click()
  })

  test('it is paused, resumed and rotated; what a manager paused stays so', async () => {
    await choose(page, 'notebook', 'Pause')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause key' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await choose(page, 'notebook', 'Resume')
    await page.getByText('notebook is no longer paused.').waitFor()
    await choose(page, 'notebook', 'Rotate secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('checkbox', { name: /stored/ }).check()
    await page.getByRole('button', { name: 'Done' }).click()
    await web.ask('POST', `/keys/${keyId}/pause`)
    await page.reload()
    await page.getByText('Paused by somebody who manages the group').waitFor()
    await page.getByRole('button', { name: 'Actions for notebook' }).click()
    const items = await page.getByRole('menuitem').allTextContents()
    assert.deepEqual(items, ['Test call', 'Rotate secret', 'Revoke'])
    await page.keyboard.press('Escape')
    await picture(page, 'my-keys-paused')
    await page.goto(`${web.url}/settings/api-access/${keyId}`)
    await page.getByText('Paused by somebody who manages the group').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), 0)
    await web.ask('POST', `/keys/${keyId}/resume`)
  })

  test('the menu of a key offers members nothing that is refused to them', async () => {
    await page.goto(`${web.url}/settings/api-access`)
    await page.getByRole('button', { name: 'Actions for notebook' }).click()
    await page.getByRole('menuitem', { name: 'Pause' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: 'Top up' }).count(), 0)
    assert.equal(await page.getByRole('menuitem', { name: 'Reset spend' }).count(), 0)
    await page.keyboard.press('Escape')
  })

  test('who needs more asks for it, a manager grants less, and the owner sees that', async () => {
    await page.goto(`${web.url}/settings/my-keys`)
    await page.getByRole('button', { name: 'Ask for more' }).click()
    const asking = page.getByRole('dialog', { name: 'Ask for more for notebook' })
    await asking.getByLabel('Budget in USD, a month').fill('60')
    await asking.getByLabel('Reason').fill('an evaluation over the whole corpus')
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'my-keys-ask')
    await asking.getByRole('button', { name: 'Ask for more' }).press('Enter')
    await page.getByText('You asked for $60.00 a month').waitFor()
    await asking.waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('button', { name: 'Ask for more' }).count(), 0)
    await picture(page, 'my-keys-asked')
    const manager = web.page
    await web.open('/settings/wishes')
    const entry = manager.getByRole('navigation').getByRole('link', { name: 'Inbox' })
    await entry.getByText('1').waitFor()
    const card = manager.getByRole('listitem').filter({ hasText: 'an evaluation' })
    await card.getByText('$15.00 → $60.00 a month').waitFor()
    await card.getByRole('button', { name: 'Grant' }).press('Enter')
    const granting = manager.getByRole('dialog', { name: 'Grant more to notebook?' })
    await granting.getByLabel('Budget in USD, a month').fill('40')
    await granting.getByLabel('A word about it').fill('forty is what is left')
    await picture(manager, 'wishes-grant')
    await granting.getByRole('button', { name: 'Grant' }).click()
    await manager.getByRole('heading', { name: 'Nothing to decide' }).waitFor()
    await manager
      .getByRole('row', { name: /notebook/ })
      .getByText('forty is what is left')
      .waitFor()
    await page.reload()
    await page.getByText('Granted: $40.00 a month').waitFor()
    await page.getByText('of $40.00').waitFor()
    await picture(page, 'my-keys-granted')
  })

  test('a request is declined with a reason, or taken back', async () => {
    const data = { budget: '90', reason: 'more' }
    const path = `/keys/${keyId}/wishes`
    const { id } = await send(page.context(), web.url, { method: 'POST', path, data })
    await page.reload()
    await page.getByRole('button', { name: 'Take back' }).click()
    await page.getByText('Your request is taken back.').waitFor()
    assert.ok(id)
    await send(page.context(), web.url, { method: 'POST', path, data })
    const manager = web.page
    await web.open('/settings/wishes')
    await manager.getByRole('button', { name: 'Decline' }).click()
    const declining = manager.getByRole('dialog', { name: 'Decline $90.00 a month for notebook?' })
    await declining.getByLabel('Reason').fill('not this month')
    await declining.getByRole('button', { name: 'Decline' }).click()
    await manager
      .getByRole('row', { name: /notebook/ })
      .getByText('not this month')
      .waitFor()
    await page.reload()
    await page.getByText('Declined: $90.00 a month').waitFor()
  })

  test('every width and theme shows it in both languages, without a serious finding', async () => {
    const own = { name: 'nightly job', group: groupId, models: ['sandbox-chat'], budget: '5' }
    const expires = { expires_at: new Date(Date.now() + 86_400_000).toISOString() }
    const data = { ...own, ...expires, environment: 'dev' }
    await send(page.context(), web.url, { method: 'POST', path: '/keys', data })
    await page.goto(`${web.url}/settings/my-keys`)
    for (const language of ['english', 'german']) {
      if (language === 'german') await speakGerman(page)
      await assertOnEveryScreen(page, `my-keys-${language}`, () =>
        page.getByText('nightly job').first().waitFor(),
      )
    }
  })
})
