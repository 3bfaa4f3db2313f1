// Every flow of the interface by keyboard alone, in one session: lists, the frame, groups and their members, requests for
// more, people and roles, the own account, alerts and the playground. The focus is never lost: it stays on a button while
// its action runs, and is on the page when a dialog has closed. A single key is in keyboard.test.ts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { appCode } from '../../support/browser.ts'
import { keyboardOf, type Keyboard } from '../../support/web/keyboard.ts'
import {
  administrator,
  callModel,
  newKey,
  newVisitor,
  openSignedInWeb,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

const developer = { email: 'dev@example.com', name: 'Dev', password: administrator.password }

describe('every flow by keyboard alone', () => {
  let web: SignedInWeb
  let page: Page
  let keyboard: Keyboard
  let groupPath = ''
  /** The developer's own browser. */
  let own: Page
  let theirs: Keyboard

  before(async () => {
    web = await openSignedInWeb()
    ;({ page } = web)
    keyboard = keyboardOf(page)
    own = await newVisitor(web)
    theirs = keyboardOf(own)
    for (const environment of ['production', 'staging'])
      for (const name of ['batch', 'chat'])
        await newKey(web, `${name} ${environment}`, { environment })
    const { secret } = await newKey(web, 'trial')
    assert.equal((await callModel(web.url, secret, 'Hello')).status, 200)
  })
  after(() => web.close())

  /** And has taken the focus: what is pressed before that, a dialog that still opens undoes. */
  const dialogIsOpen = (name: string | RegExp, on = page) =>
    on.getByRole('dialog', { name }).and(on.locator(':focus-within')).waitFor()
  /** And the focus is where somebody can go on from. */
  const dialogIsClosed = async (on = page) => {
    await on.getByRole('dialog').waitFor({ state: 'hidden' })
    await on.locator(':focus').waitFor()
  }
  /** Takes what is shown only once. */
  const copyAndClose = async (on = page) => {
    await keyboardOf(on).enter(/^Copy /)
    await on.getByRole('button', { name: 'Copied' }).waitFor()
    await keyboardOf(on).enter(/^Done$/)
    await dialogIsClosed(on)
  }

  test('sign out, and in again', async () => {
    await keyboard.choose(/^Your account$/, /^Sign out$/)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await keyboard.type(/^E-mail address/, administrator.email)
    await keyboard.type(/^Password/, administrator.password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API access', level: 1 }).waitFor()
  })

  test('search and filter keys', async () => {
    await page.getByRole('link', { name: 'chat staging' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('batch')
    await page.getByRole('link', { name: 'chat staging' }).waitFor({ state: 'detached' })
    await keyboard.enter(/^Filters$/)
    await keyboard.tabTo(/^Environment/)
    await page.keyboard.type('stag')
    await page.getByRole('option', { name: 'staging' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    await keyboard.enter(/^Apply$/)
    await page.getByText('Environment: staging').waitFor()
    await page.getByRole('link', { name: 'batch production' }).waitFor({ state: 'detached' })
    await keyboard.enter(/^Clear filters$/)
    await page.getByText('Environment: staging').waitFor({ state: 'detached' })
  })

  test('show another column', async () => {
    await web.follow('/settings/api-access')
    await keyboard.enter(/^View$/)
    await page.locator('[role="menu"]:focus-within').waitFor()
    await page.keyboard.press('ArrowDown')
    const item = page.locator('[role="menuitemcheckbox"]:focus')
    const column = await item.innerText()
    const shown = () => page.getByRole('columnheader', { name: column, exact: true }).count()
    const before = await shown()
    await page.keyboard.press('Enter')
    assert.notEqual(await shown(), before)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'hidden' })
    assert.equal(await keyboard.focused(), 'View')
  })

  test('revoke several keys at once', async () => {
    for (const name of ['batch production', 'batch staging']) {
      await keyboard.tabTo(new RegExp(`^Select key ${name}$`))
      await page.keyboard.press('Space')
    }
    await keyboard.enter(/^Revoke$/)
    await dialogIsOpen(/^Revoke 2 keys/)
    await keyboard.type(/^Reason/, 'only a demonstration')
    await keyboard.type(/^Type 2 to confirm/, '2')
    await keyboard.enter(/^Revoke/)
    await page.getByText('2 keys were changed.').waitFor()
    await keyboard.enter(/^Close$/)
    await dialogIsClosed()
  })

  test('test and top up a key from its menu', async () => {
    await keyboard.choose(/^Actions for chat staging$/, /^Test call$/)
    await dialogIsOpen('Test call with chat staging')
    await keyboard.enter(/^Make a test call$/)
    await page.getByText('It works: sandbox-chat answered.').waitFor()
    assert.equal(await keyboard.focused(), 'Make a test call')
    await page.keyboard.press('Escape')
    await dialogIsClosed()
    await keyboard.choose(/^Actions for chat staging$/, /^Top up$/)
    await dialogIsOpen('Top up chat staging')
    await keyboard.type(/^Add, in USD/, '2')
    await keyboard.type(/^Reason/, 'only a demonstration')
    await keyboard.enter(/^Top up$/)
    await page.getByText('chat staging may spend $3.00').waitFor()
    await dialogIsClosed()
  })

  test('change the frame', async () => {
    await web.follow('/settings/api-access/frame')
    await keyboard.enter(/^Edit frame$/)
    await dialogIsOpen('Edit frame')
    await keyboard.type(/^Budget in USD/, '250')
    await keyboard.enter(/^Save changes$/)
    await page.getByText('$250.00 a month').waitFor()
    await dialogIsClosed()
  })

  test('create a group, and change it', async () => {
    await web.follow('/settings/groups')
    await page.keyboard.press('c')
    await page.getByRole('heading', { name: 'Create group', level: 1 }).waitFor()
    await keyboard.type(/^Name/, 'search')
    await keyboard.type(/^Budget in USD/, '200')
    await keyboard.tabTo(/^Members may create keys/)
    await page.keyboard.press('Space')
    await keyboard.enter(/^Create group$/)
    await page.waitForURL(/grp_\w+$/)
    groupPath = new URL(page.url()).pathname
    await page.getByRole('heading', { name: /^search/, level: 1 }).waitFor()
    await page.keyboard.press('e')
    await keyboard.type(/^Description/, 'Everybody who works on search')
    await keyboard.enter(/^Review changes$/)
    await dialogIsOpen('Save these changes?')
    await keyboard.enter(/^Save changes$/)
    await page.waitForURL(/grp_\w+$/)
    await page.getByText('Everybody who works on search').first().waitFor()
  })

  test('invite somebody into it, who accepts', async () => {
    await keyboard.tabTo(/^Keys$/)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('tab', { name: 'Members', selected: true }).waitFor()
    await page.getByRole('button', { name: 'Invite' }).waitFor()
    await keyboard.enter(/^Invite$/)
    await dialogIsOpen('Invite into search')
    await keyboard.type(/^E-mail address/, developer.email)
    await keyboard.type(/^Name/, developer.name)
    await keyboard.enter(/^Invite$/)
    const link = page.getByRole('dialog', { name: /Dev/ })
    const url = await link.getByText(/\/invitation#/).innerText()
    await copyAndClose()
    await own.goto(url)
    await theirs.type(/^New password/, developer.password)
    await own.keyboard.press('Enter')
    await own.getByRole('heading', { name: 'My keys', level: 1 }).waitFor()
  })

  test('create a key of one’s own', async () => {
    await own.getByText('no limit of the group').or(own.getByText('left in the group')).waitFor()
    await own.keyboard.press('c')
    await dialogIsOpen('Create key', own)
    await theirs.type(/^Name/, 'notebook')
    await theirs.tabTo(/^Models/)
    await own.keyboard.type('sandbox-chat')
    await own.getByRole('option', { name: 'sandbox-chat', exact: true }).waitFor()
    await own.keyboard.press('Enter')
    await theirs.type(/^Budget in USD/, '5')
    await theirs.enter(/^Create key$/)
    await dialogIsOpen(/^Key created/, own)
    await copyAndClose(own)
  })

  test('ask for more, and grant it', async () => {
    await theirs.enter(/^Ask for more$/)
    await dialogIsOpen('Ask for more for notebook', own)
    await theirs.type(/^Budget in USD/, '60')
    await theirs.type(/^Reason/, 'the whole corpus')
    await theirs.enter(/^Ask for more$/)
    await own.getByText('You asked for $60.00 a month').waitFor()
    await dialogIsClosed(own)
    await web.open('/settings/wishes')
    await keyboard.enter(/^Grant$/)
    await dialogIsOpen('Grant more to notebook?')
    await keyboard.enter(/^Grant$/)
    await page.getByRole('heading', { name: 'Nothing to decide' }).waitFor()
    await dialogIsClosed()
  })

  test('give a member another role, and take them out', async () => {
    await web.follow(`${groupPath}?tab=members`)
    await keyboard.choose(/^Actions for Dev$/, /^Change role$/)
    await dialogIsOpen('Role of Dev in search')
    await keyboard.select(/^Role/, /^Viewer/)
    await keyboard.enter(/^Save changes$/)
    await page.getByRole('row', { name: /Dev/ }).getByText('Viewer').waitFor()
    await dialogIsClosed()
    await keyboard.choose(/^Actions for Dev$/, /^Take out$/)
    await dialogIsOpen('Take Dev out of search?')
    await keyboard.tabTo(/^They are paused$/)
    await page.keyboard.press('Space')
    await keyboard.enter(/^Take out$/)
    await page.getByRole('row', { name: /Dev/ }).waitFor({ state: 'detached' })
    await dialogIsClosed()
  })

  test('archive a group', async () => {
    await keyboard.choose(/^Actions for search$/, /^Archive$/)
    await dialogIsOpen('Archive search?')
    await keyboard.enter(/^Archive group$/)
    await page.getByText('This group is archived').waitFor()
    await dialogIsClosed()
  })

  test('block a person, and remove them', async () => {
    await web.follow('/settings/people')
    await keyboard.choose(/^Actions for Dev$/, /^Block$/)
    await dialogIsOpen('Block Dev?')
    await keyboard.enter(/^Block$/)
    await page.getByRole('row', { name: /Dev/ }).getByText('Blocked').waitFor()
    await dialogIsClosed()
    await keyboard.choose(/^Actions for Dev$/, /^Remove$/)
    await dialogIsOpen('Remove Dev for good?')
    await keyboard.enter(/^Remove$/)
    await page.getByRole('row', { name: /Dev/ }).waitFor({ state: 'detached' })
    await dialogIsClosed()
  })

  test('create a role, and remove it', async () => {
    await web.follow('/settings/roles')
    await keyboard.enter(/^Create role$/)
    await dialogIsOpen('Create role')
    await keyboard.type(/^Name/, 'Auditor')
    await keyboard.tabTo(/^Read usage/)
    await page.keyboard.press('Space')
    await keyboard.enter(/^Create role$/)
    await page.getByText('The role Auditor was saved.').waitFor()
    await dialogIsClosed()
    await keyboard.choose(/^Actions for Auditor$/, /^Remove role$/)
    await dialogIsOpen('Remove the role Auditor?')
    await keyboard.enter(/^Remove role$/)
    await page.getByText('The role Auditor was removed.').waitFor()
    await dialogIsClosed()
  })

  test('read what one request cost, and what a model can do', async () => {
    await web.follow('/settings/requests')
    await page.keyboard.press('j')
    const opener = await keyboard.focused()
    await page.keyboard.press('Enter')
    await dialogIsOpen('Request')
    await page.keyboard.press('Escape')
    await dialogIsClosed()
    assert.equal(await keyboard.focused(), opener)
    await web.follow('/settings/models')
    await keyboard.enter(/^sandbox-chat$/)
    await dialogIsOpen('sandbox-chat')
    await page.keyboard.press('Escape')
    await dialogIsClosed()
    assert.equal(await keyboard.focused(), 'sandbox-chat')
  })

  test('compare usage', async () => {
    await web.follow('/settings/usage')
    await keyboard.select(/^By$/, /^Model$/)
    await page.getByRole('rowheader', { name: 'sandbox-chat', exact: true }).waitFor()
    await keyboard.select(/^Compare with/, /before/)
    await page.getByRole('columnheader', { name: 'Cost before' }).waitFor()
  })

  test('add a destination for alerts, send it a sample, and remove it', async (t) => {
    const receiver = createServer((_, response) => response.writeHead(500).end())
    t.after(() => receiver.close())
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    await web.follow('/settings/alerts')
    await keyboard.enter(/^Add destination$/)
    await dialogIsOpen('Add destination')
    await keyboard.type(/^Name/, 'on-call')
    await keyboard.type(/^Webhook URL/, `http://127.0.0.1:${port}/hook`)
    await keyboard.enter(/^Add destination$/)
    await dialogIsOpen('Signing secret')
    await copyAndClose()
    await keyboard.enter(/^Send sample to on-call$/)
    await page.getByText('The sample was not delivered to on-call.').waitFor()
    assert.equal(await keyboard.focused(), 'Send sample to on-call')
    await page.getByText(/^Since .*: The receiver answered with status 500\.$/).waitFor()
    await keyboard.enter(/^Remove on-call$/)
    await dialogIsOpen('Remove on-call')
    await keyboard.enter(/^Remove$/)
    await page.getByText('on-call was removed.').waitFor()
    await dialogIsClosed()
  })

  test('try a model, stop it, and copy the call', async () => {
    const { keys } = await web.ask('GET', '/keys?search=trial')
    await web.follow(`/settings/playground?key=${Object(keys)[0].id}`)
    await keyboard.type(/^Message/, 'Hello')
    await keyboard.enter(/^Send$/)
    await page.getByText(/tokens in/).waitFor()
    // The focus is in the field again.
    await page.keyboard.type('[[sandbox tokens=900 gap=100ms]]')
    await page.keyboard.press('Control+Enter')
    await page.getByText(/tokens so far/).waitFor()
    await keyboard.enter(/^Stop$/)
    await page.getByText(/^Stopped/).waitFor()
    await keyboard.enter(/^Show as code$/)
    await dialogIsOpen('This call as code')
    await keyboard.tabTo(/^curl$/)
    await page.keyboard.press('ArrowRight')
    await page.getByText('from openai import OpenAI').waitFor()
    await keyboard.enter(/^Copy /)
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await page.keyboard.press('Escape')
    await dialogIsClosed()
  })

  test('create an access token, and revoke it', async () => {
    await web.follow('/settings/profile')
    await keyboard.enter(/^New access token$/)
    await dialogIsOpen('New access token')
    await keyboard.type(/^What it is for/, 'nightly report')
    await keyboard.type(/^Current password/, administrator.password)
    await keyboard.enter(/^Create token$/)
    await dialogIsOpen(/^Access token created/)
    await copyAndClose()
    await keyboard.enter(/^Revoke nightly report$/)
    await dialogIsOpen('Revoke nightly report')
    await keyboard.enter(/^Revoke$/)
    await page.getByText('No access tokens').waitFor()
    await dialogIsClosed()
  })

  test('switch on the second factor', async () => {
    await keyboard.enter(/^Switch on$/)
    await dialogIsOpen('Switch on the second factor')
    await keyboard.type(/^Current password/, administrator.password)
    await keyboard.enter(/^Switch on the second factor$/)
    await page.getByRole('img', { name: 'QR code for the app' }).waitFor()
    const uri = await page.getByRole('dialog').getByRole('link').getAttribute('href')
    await keyboard.type(/^Code from your app/, appCode(uri ?? ''))
    await keyboard.enter(/^Confirm code$/)
    await page.getByText('These recovery codes are shown once.').waitFor()
    await copyAndClose()
    await page.getByRole('button', { name: 'New recovery codes' }).waitFor()
  })

  test('choose a language and colours', async () => {
    await keyboard.choose(/^Colours$/, /^Dark$/)
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
    await keyboard.choose(/^Language$/, /^Deutsch$/)
    await page.locator('html[lang="de"]').waitFor()
  })

  test('go to another page on a narrow screen', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await keyboard.enter(/^Navigation öffnen$/)
    await page.getByRole('dialog').waitFor()
    await keyboard.enter(/^Modelle$/)
    await page.getByRole('heading', { name: 'Modelle', level: 1 }).waitFor()
    await dialogIsClosed()
  })

  test('there are no browser errors', () => assert.deepEqual(web.complaints, []))
})
