// The pages of groups in a real browser on a real gateway: the list, and one group with its budgets, keys, members and
// settings; made, changed, topped up, archived and activated by hand.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import {
  administrator,
  callModel,
  choose,
  openSignedInWeb,
  picture,
  seriousFindings,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('the pages of groups', () => {
  let web: SignedInWeb
  let page: Page
  let id = ''

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
  })
  after(() => web.close())

  test('without a group, the page says what one is for', async () => {
    await web.open('/settings/groups')
    await page.getByRole('heading', { name: 'No groups yet' }).waitFor()
    await picture(page, 'groups-none')
  })

  test('the list shows budgets, keys and members of every group', async () => {
    const search = await web.ask('POST', '/groups', {
      name: 'search',
      description: 'Everybody who works on search, and their nightly jobs',
      budget: '200',
      window: { budget: '10', period: 'day' },
      models: ['sandbox-chat', 'sandbox-embedding'],
      request_cost_max: '0.5',
      rpm: 600,
      key_rules: { self_service: true, budget_max: { budget: '20', period: 'month' } },
    })
    id = String(search['id'])
    await web.ask('PUT', `/groups/${id}/members/${administrator.email}`, { role: 'manager' })
    await web.ask('POST', '/groups', { name: 'billing' })
    const body = { models: ['sandbox-chat'], budget: '150', group: id }
    const key = await web.ask('POST', '/keys', { name: 'crawler', ...body })
    await web.ask('POST', '/keys', { name: 'indexer', ...body, models: ['sandbox-reasoner'] })
    const answer = await callModel(web.url, String(key['secret']), 'Say hello.')
    assert.equal(answer.status, 200, await answer.text())
    const stranger = { name: 'stranger', models: ['sandbox-chat'], budget: '1' }
    const { secret } = await web.ask('POST', '/keys', stranger)
    assert.equal((await callModel(web.url, String(secret), 'Say hello.')).status, 200)
    await web.open('/settings/groups')
    const row = page.getByRole('row', { name: /^search/ })
    await row.getByText('of $200.00').waitFor()
    await row.getByText('of $10.00').waitFor()
    await row.getByText('a day').waitFor()
    assert.match(await row.innerText(), /\s2\s+1\s/)
    await page
      .getByRole('row', { name: /^billing/ })
      .getByText('no limit of its own')
      .waitFor()
  })

  test('it is searched, filtered and sorted in the address', async () => {
    const names = () => page.locator('tbody th a').allTextContents()
    assert.deepEqual(await names(), ['billing', 'search'])
    await page.getByRole('button', { name: 'Budget' }).click()
    await page.waitForURL(/sort=percent/)
    assert.deepEqual(await names(), ['search', 'billing'])
    await page.getByRole('combobox', { name: 'Search' }).fill('NIGHTLY')
    await page.waitForURL(/search=NIGHTLY/)
    assert.deepEqual(await names(), ['search'])
    await page.getByLabel('Status').selectOption('Archived')
    await page.getByRole('heading', { name: 'No group matches' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('row', { name: /^billing/ }).waitFor()
  })

  test('the page of a group shows both budgets, its keys, members and rules', async () => {
    await page.getByRole('link', { name: 'search', exact: true }).click()
    await page.getByRole('heading', { name: /^search/, level: 1 }).waitFor()
    await page.getByRole('meter', { name: 'Budget of the group' }).waitFor()
    await page.getByRole('meter', { name: 'Second window (a day)' }).waitFor()
    await page.getByText('$300.00 allocated to keys, $100.00 more than the group has').waitFor()
    await page.getByText('1 key can call nothing').waitFor()
    const keys = page.getByRole('table', { name: 'Keys of this group' })
    await keys.getByRole('link', { name: 'indexer' }).waitFor()
    assert.deepEqual(await keys.locator('tbody th a').allTextContents(), ['crawler', 'indexer'])
    await page.getByRole('tab', { name: 'Usage' }).click()
    const usage = page.getByRole('table', { name: 'Usage by key' })
    await usage.getByRole('row', { name: /^crawler/ }).waitFor()
    assert.equal(await usage.getByRole('row', { name: /^stranger/ }).count(), 0)
    await page.getByRole('tab', { name: 'Members' }).click()
    await page.getByRole('row', { name: /Ann/ }).getByText('Manager').waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByText('$10.00 a day').waitFor()
    await page.getByText('sandbox-chat and sandbox-embedding').waitFor()
    await page.getByText('$20.00 a month').waitFor()
    await page.getByRole('tab', { name: 'Activity' }).click()
    await page.getByText('created the group').waitFor()
  })

  test('its refused calls are a link away', async () => {
    const poor = { models: ['sandbox-chat'], budget: '0', when_tight: 'refuse' }
    for (const [name, group] of [
      ['poor here', id],
      ['poor elsewhere', null],
    ]) {
      const { secret } = await web.ask('POST', '/keys', { ...poor, name, group })
      assert.equal((await callModel(web.url, String(secret), 'Hello')).status, 402)
    }
    await until(
      async () => ((await web.ask('GET', '/refusals'))['refusals'] as unknown[]).length === 2,
    )
    await page.getByRole('tab', { name: 'Keys' }).click()
    await page.getByRole('link', { name: 'Refused calls of its keys' }).click()
    await page.getByRole('row', { name: /poor here/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /poor elsewhere/ }).count(), 0)
    await page.getByLabel('Group', { exact: true }).selectOption('Any')
    await page.getByRole('row', { name: /poor elsewhere/ }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: /^search/, level: 1 }).waitFor()
  })

  test('its second window is topped up and reset by itself', async () => {
    await choose(page, 'search', 'Top up')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Which budget').selectOption('the second window')
    await dialog.getByText('Adds to the limit of $10.00').waitFor()
    await dialog.getByLabel('Add, in USD').fill('5')
    await dialog.getByLabel('Reason').fill('a demonstration')
    await dialog.getByRole('button', { name: 'Top up' }).click()
    await page.getByText('search may spend $15.00').waitFor()
    await page.getByText('$5.00 of it topped up').waitFor()
    await choose(page, 'search', 'Reset spend')
    await dialog.getByLabel('Which budget').selectOption('the second window')
    await dialog.getByLabel('Reason').fill('a demonstration')
    await dialog.getByRole('button', { name: 'Reset' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const { spent, window } = await web.ask('GET', `/groups/${id}`)
    assert.notEqual(spent, '0')
    assert.equal((window as { readonly spent: string }).spent, '0')
  })

  test('an archived group says so until it is activated', async () => {
    await choose(page, 'search', 'Archive')
    const dialog = page.getByRole('dialog', { name: 'Archive search?' })
    await dialog.getByText('Calls of its 3 keys are refused').waitFor()
    await dialog.getByRole('button', { name: 'Archive group' }).click()
    await page.getByText('This group is archived').waitFor()
    const row = page.getByRole('row', { name: /^crawler/ })
    await page.getByRole('tab', { name: 'Keys' }).click()
    await row.getByText(/^Group archived/).waitFor()
    await picture(page, 'group-archived')
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('search is active again.').waitFor()
    await page.getByText('This group is archived').waitFor({ state: 'detached' })
  })

  test('a group is made by keyboard; what is wrong is named with its field', async () => {
    await web.open('/settings/groups')
    await page.keyboard.press('c')
    await page.getByRole('heading', { name: 'Create group', level: 1 }).waitFor()
    const name = page.getByRole('textbox', { name: 'Name' })
    await name.focus()
    await page.keyboard.type('search')
    const budget = page.getByRole('textbox', { name: 'Budget in USD' })
    await budget.focus()
    await page.keyboard.type('50')
    await page.getByRole('switch', { name: 'Second window' }).press(' ')
    await page.getByRole('textbox', { name: 'Second window in USD' }).focus()
    await page.keyboard.type('2')
    const per = page.getByRole('combobox', { name: 'Per', exact: true }).nth(1)
    await per.selectOption('month')
    await page.getByRole('textbox', { name: 'Cost of one request' }).focus()
    await page.keyboard.type('0')
    await page.keyboard.press('Enter')
    const problems = page.getByRole('alert').first()
    await problems.getByText('2 values need your attention.').waitFor()
    await problems.getByText('Choose another period than that of the budget.').waitFor()
    await problems.getByText('The amount must be above 0.').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await per.selectOption('day')
    await page.getByRole('textbox', { name: 'Cost of one request' }).fill('0.25')
    await page.keyboard.press('Enter')
    // The name is taken, and only the gateway knows.
    await page.getByText('There is already a group named “search”').first().waitFor()
    await name.fill('research')
    await page.getByRole('switch', { name: 'Only certain models' }).press(' ')
    await page.getByText('Nothing chosen yet: its keys could not call anything.').waitFor()
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).press(' ')
    await page.getByRole('switch', { name: 'Members may create keys' }).press(' ')
    await page.getByRole('switch', { name: 'Largest budget of a key' }).press(' ')
    await page.getByRole('textbox', { name: 'Budget of a key in USD' }).fill('5')
    await picture(page, 'group-form')
    assert.deepEqual(await seriousFindings(page), [])
    await page.getByRole('button', { name: 'Create group' }).press('Enter')
    await page.getByRole('heading', { name: /^research/, level: 1 }).waitFor()
    const made = await web.ask('GET', `/groups/${/grp_\w+/.exec(page.url())?.[0]}`)
    assert.deepEqual(
      [made['budget'], made['request_cost_max'], made['models']],
      ['50', '0.25', ['sandbox-chat']],
    )
    const { budget: amount, period } = made['window'] as Record<string, unknown>
    assert.deepEqual([amount, period], ['2', 'day'])
    const rules = made['key_rules'] as Record<string, unknown>
    assert.deepEqual(rules['budget_max'], { budget: '5', period: 'month' })
  })

  test('a change is reviewed before it is saved, and a conflict names who was faster', async () => {
    await page.keyboard.press('e')
    await page.getByRole('textbox', { name: 'Budget in USD', exact: true }).fill('60')
    await page.getByRole('textbox', { name: 'Keys of a member' }).fill('3')
    const made = /grp_\w+/.exec(page.url())?.[0] ?? ''
    const { version } = await web.ask('GET', `/groups/${made}`)
    const answer = await web.context.request.patch(`${web.url}/admin/api/v1/groups/${made}`, {
      data: { description: 'named meanwhile' },
      headers: { origin: web.url, 'if-match': String(version) },
    })
    assert.equal(answer.status(), 200, await answer.text())
    await page.getByRole('button', { name: 'Review changes' }).click()
    const review = page.getByRole('dialog', { name: 'Save these changes?' })
    await review.getByText('$60.00').waitFor()
    await review.getByText('Keys of a member, at most').waitFor()
    await review.getByRole('button', { name: 'Save changes' }).click()
    const conflict = page.getByRole('dialog', { name: 'Changed in the meantime' })
    await conflict.getByText('named meanwhile').waitFor()
    assert.deepEqual(await seriousFindings(page), [])
    await conflict.getByRole('button', { name: 'Apply mine on top' }).click()
    await page.getByText('of $60.00').first().waitFor()
    await page.getByText('named meanwhile').waitFor()
  })

  test('a group that does not exist is not found', async () => {
    await web.open('/settings/groups/grp_00000000000000000000000000')
    assert.equal(await page.locator('h1').innerText(), 'Not found')
  })

  test('there are no browser errors', () =>
    assert.deepEqual(
      // Browsers log every answer that is an error: an unknown group, a name that is taken, a conflict.
      web.complaints.filter((text) => !/status of (404|409|412)/.test(text)),
      [],
    ))
})
