// Groups where keys are: in the form of a key, on the overview and on the key's page, with its second window and caps.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { callModel, openSignedInWeb, picture, seriousFindings } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('keys in groups', () => {
  let web: SignedInWeb
  let page: Page
  const groups = { search: '', billing: '' }
  let id = ''

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    const search = {
      ...{ name: 'search', budget: '20', window: { budget: '2', period: 'day' } },
      models: ['sandbox-chat', 'sandbox-embedding'],
    }
    groups.search = String((await web.ask('POST', '/groups', search))['id'])
    groups.billing = String((await web.ask('POST', '/groups', { name: 'billing' }))['id'])
    const outside = { name: 'old batch', models: ['sandbox-chat'], budget: '7' }
    await web.ask('POST', '/keys', outside)
  })
  after(() => web.close())

  const readKey = () => web.ask('GET', `/keys/${id}`)

  test('a key is made in a group, which says what it leaves and what it leaves out', async () => {
    await web.open(`/settings/groups/${groups.search}`)
    await page.getByRole('link', { name: 'Create key' }).click()
    await page.getByRole('heading', { name: 'Create key', level: 1 }).waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Group' }).inputValue(), 'search')
    await page.getByText('The group has $2.00 left now.').waitFor()
    await page.getByText('The group search allows at most:').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('crawler')
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).check()
    await page.getByRole('checkbox', { name: 'sandbox-reasoner', exact: true }).check()
    await page.getByText('It leaves out 1 model that is chosen below: sandbox-reasoner').waitFor()
    await page.getByRole('textbox', { name: 'Budget in USD' }).fill('10')
    await page.getByRole('switch', { name: 'Second window' }).press(' ')
    await page.getByRole('textbox', { name: 'Second window in USD' }).fill('1')
    await page.getByRole('button', { name: 'Limit a model' }).press('Enter')
    const cap = page.getByRole('group', { name: 'sandbox-chat' })
    await cap.getByLabel('Budget in USD').fill('abc')
    await page.getByRole('heading', { name: 'Limits and permissions' }).click()
    await page.getByRole('textbox', { name: 'Cost of one request' }).fill('0.5')
    await page.getByRole('button', { name: 'Create key' }).press('Enter')
    await page.getByRole('alert').getByRole('link', { name: 'Budgets for models' }).waitFor()
    await cap.getByLabel('Budget in USD').fill('4')
    await cap.getByLabel('Per').selectOption('week')
    const summary = page.getByRole('complementary')
    await summary.getByText('In the group search.').waitFor()
    await summary.getByText('At most $10.00 a month. At most $1.00 a day.').waitFor()
    await summary.getByText('One request costs at most $0.50.').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await picture(page, 'key-form-group')
    await page.getByRole('button', { name: 'Create key' }).press('Enter')
    const secret = await page.getByLabel(/^Secret, \d+ characters$/).inputValue()
    await page.getByLabel('I have stored the secret').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: /^crawler/, level: 1 }).waitFor()
    id = /key_\w+/.exec(page.url())?.[0] ?? ''
    const answer = await callModel(web.url, secret, 'Say hello.')
    assert.equal(answer.status, 200, await answer.text())
    const made = await readKey()
    assert.deepEqual((made['group'] as { readonly name: string }).name, 'search')
    const caps = made['model_budgets'] as readonly Record<string, unknown>[]
    assert.deepEqual(
      caps.map(({ model, budget, period }) => [model, budget, period]),
      [['sandbox-chat', '4', 'week']],
    )
  })

  test('its page has a bar for every budget that can stop it', async () => {
    for (const name of [
      'This key',
      'This key, second window (a day)',
      'This key, model sandbox-chat (a week)',
      'Group search',
      'Group search, second window (a day)',
      'Frame (all keys)',
    ])
      await page.getByRole('meter', { name, exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Models' }).click()
    const left = page.getByRole('row', { name: /^sandbox-reasoner/ })
    await left.getByText(/^Left out/).waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByText('sandbox-chat: $4.00 a week').waitFor()
    await page.getByText('$1.00 a day').waitFor()
  })

  test('it is moved to another group, and loses a cap and its window', async () => {
    await page.keyboard.press('e')
    await page.getByRole('combobox', { name: 'Group' }).click()
    await page.getByRole('option', { name: 'billing' }).click()
    await page.getByText('The group has no limit of its own.').waitFor()
    await page.getByRole('button', { name: 'Remove the budget for sandbox-chat' }).press('Enter')
    await page.getByRole('switch', { name: 'Second window' }).press(' ')
    await page.getByRole('button', { name: 'Review changes' }).click()
    const review = page.getByRole('dialog', { name: 'Save these changes?' })
    await review.getByText('billing').waitFor()
    await review.getByText('−sandbox-chat: $4.00 a week').waitFor()
    await picture(page, 'key-moved-review')
    await review.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Group billing' }).waitFor()
    const { group, window, model_budgets: caps } = await readKey()
    assert.deepEqual(
      [(group as { readonly id: string }).id, window, caps],
      [groups.billing, null, []],
    )
  })

  test('the overview filters by group and shows a column of them', async () => {
    await web.open('/settings/api-access')
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('combobox', { name: 'Group' }).fill('bill')
    await page.getByRole('option', { name: 'billing' }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Group: billing').waitFor()
    const names = () => page.locator('tbody th a').allTextContents()
    await page.getByRole('link', { name: 'old batch' }).waitFor({ state: 'detached' })
    assert.deepEqual(await names(), ['crawler'])
    await page.getByRole('button', { name: 'View' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Group', exact: true }).click()
    await page.getByRole('columnheader', { name: 'Group' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Remove filter Group/ }).click()
    await page.getByRole('link', { name: 'old batch' }).waitFor()
  })

  test('several keys are moved to a group at once', async () => {
    await web.open('/settings/api-access')
    await page.getByRole('checkbox', { name: 'Select all keys of this page' }).check()
    await page.getByRole('button', { name: 'Move to group' }).click()
    const dialog = page.getByRole('dialog', { name: 'Move 2 keys' })
    await dialog.getByText('2 different values').waitFor()
    await dialog.getByLabel('Group').selectOption('billing')
    await dialog.getByRole('button', { name: 'Move to group' }).click()
    await page.getByText('2 keys were changed.').waitFor()
    await page.getByRole('button', { name: 'Close' }).last().click()
    const { keys, total } = await web.ask('GET', `/keys?group=${groups.billing}`)
    assert.equal(total, 2)
    const outside = (keys as readonly Record<string, unknown>[]).find(({ id: each }) => each !== id)
    const { id: moved, version } = outside ?? {}
    const answer = await web.context.request.patch(`${web.url}/admin/api/v1/keys/${moved}`, {
      data: { group: null },
      headers: { origin: web.url, 'if-match': String(version) },
    })
    assert.equal(answer.status(), 200, await answer.text())
  })

  test('the overview groups keys, with a subtotal for each group', async () => {
    await web.open('/settings/api-access')
    await page.getByRole('button', { name: 'View' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'By group' }).click()
    await page.keyboard.press('Escape')
    await page.waitForURL(/grouped=true/)
    const section = (name: string) =>
      page
        .locator('section')
        .filter({ has: page.getByRole('button', { name, exact: true }) })
        .last()
    await section('billing').getByRole('link', { name: 'crawler' }).waitFor()
    await section('billing').getByText('1 key', { exact: true }).waitFor()
    await section('billing').getByText('$10.00 allocated to keys').waitFor()
    await section('search').getByText('No keys in this group').waitFor()
    await section('Outside groups').getByText('$7.00 allocated to keys').waitFor()
    const toggle = page.getByRole('button', { name: 'billing', exact: true })
    assert.equal(await toggle.getAttribute('aria-expanded'), 'true')
    await toggle.press('Enter')
    await page.getByRole('link', { name: 'crawler' }).waitFor({ state: 'detached' })
    assert.equal(await toggle.getAttribute('aria-expanded'), 'false')
  })

  test('there are no browser errors', () => assert.deepEqual(web.complaints, []))
})
