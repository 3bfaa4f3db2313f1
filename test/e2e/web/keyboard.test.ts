// The interface by keyboard alone: create a key, copy its secret, change its budget, revoke it, with the focus always in
// a sensible place.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { keyboardOf, type Keyboard } from '../../support/web/keyboard.ts'
import { choose, openSignedInWeb } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

describe('by keyboard alone', () => {
  let web: SignedInWeb
  let page: Page
  let focused: Keyboard['focused']
  let tabTo: Keyboard['tabTo']

  before(async () => {
    web = await openSignedInWeb()
    page = web.page
    ;({ focused, tabTo } = keyboardOf(page))
  })
  after(() => web.close())

  test('a focused password field has its ring around all of it', async () => {
    await web.open('/settings/profile')
    await page.getByLabel('Current password').focus()
    const outline = 'getComputedStyle(document.activeElement.parentElement).outlineStyle'
    assert.equal(await page.evaluate(outline), 'solid')
  })

  test('the first tab stop skips the navigation', async () => {
    await web.open('/settings/api-access')
    await page.keyboard.press('Tab')
    assert.equal(await focused(), 'Skip to content')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
  })

  test('the focused element is visible as such', async () => {
    await tabTo(/^Export CSV$/)
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    assert.equal(outline, 'solid')
  })

  test('a key can be created', async () => {
    await page.keyboard.press('c')
    await page.getByRole('checkbox', { name: 'sandbox-chat', exact: true }).waitFor()
    await tabTo(/^Name/)
    await page.keyboard.type('keyboard demo')
    await tabTo(/^Search models/)
    await page.keyboard.type('sandbox-chat')
    await tabTo(/^sandbox\b/)
    await page.keyboard.press('ArrowDown')
    assert.equal(await focused(), 'sandbox-chat')
    await page.keyboard.press('Space')
    await tabTo(/^Budget in USD/)
    await page.keyboard.type('1')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /^Key created/ }).waitFor()
  })

  test('the dialog holds the focus, and the secret can be copied', async () => {
    await page.locator('input[readonly]:focus').waitFor()
    await tabTo(/^Copy the secret/)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press('Tab')
      const isInside = await page.evaluate(`!!document.activeElement.closest('[role="dialog"]')`)
      assert.ok(isInside, 'the focus left the dialog')
    }
    await tabTo(/^Done$/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^keyboard demo/, level: 1 }).waitFor()
  })

  test('its budget can be changed', async () => {
    await page.keyboard.press('e')
    await page.getByRole('textbox', { name: 'Budget in USD' }).waitFor()
    await tabTo(/^Budget in USD/)
    await page.keyboard.press('Control+A')
    await page.keyboard.type('2')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(/^Save changes$/)
    await page.keyboard.press('Enter')
    await page.getByText(/^of \$2\.00 \(/).waitFor()
  })

  test('a dialog returns the focus to what opened it', async () => {
    await tabTo(/^Rotate secret$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.locator('button:focus', { hasText: 'Rotate secret' }).waitFor()
  })

  test('so does a dialog that took the place of another', async () => {
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(/^Rotate secret$/)
    await page.keyboard.press('Enter')
    await page.locator('input[readonly]:focus').waitFor()
    await tabTo(/^Copy the secret/)
    await page.keyboard.press('Enter')
    await tabTo(/^Done$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.locator('button:focus', { hasText: 'Rotate secret' }).waitFor()
  })

  test('a dialog keeps the focus while it works, and when that fails', async () => {
    const { promise: isCut, resolve: cut } = Promise.withResolvers<void>()
    await page.route('**/pause', async (route) => {
      await isCut
      await route.abort()
    })
    await choose(page, 'keyboard demo', 'Pause')
    assert.equal(await focused(), 'Cancel')
    await tabTo(/^Pause key$/)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Pause key', disabled: true }).waitFor()
    assert.equal(await focused(), 'Pause key')
    cut()
    await page.getByRole('alert').waitFor()
    assert.equal(await focused(), 'Pause key')
    await page.unroute('**/pause')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  test('the key can be revoked, with the focus starting on Cancel', async () => {
    await tabTo(/^Actions for keyboard demo$/)
    await page.keyboard.press('Enter')
    await page.locator('[role="menu"]:focus-within').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.locator('[role="menuitem"]:focus').waitFor()
    await page.keyboard.press('End')
    await page.locator('button:focus', { hasText: 'Revoke' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /^Revoke/ }).waitFor()
    await page.locator('button:focus', { hasText: 'Cancel' }).waitFor()
    await tabTo(/^Reason/)
    await page.keyboard.type('only a demonstration')
    await tabTo(/^Revoke key$/)
    await page.keyboard.press('Enter')
    await page
      .getByText(/^Revoked /)
      .first()
      .waitFor()
  })
})
