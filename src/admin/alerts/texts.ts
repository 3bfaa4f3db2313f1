// Alerts in words: full sentences, for readers who see nothing else.
import { isGroupId } from '../../core/ids.ts'
import { formatUsd } from '../../core/money.ts'
import type {
  Alert,
  BudgetAlert,
  ExpiryAlert,
  InactiveAlert,
  OutageAlert,
  RefusalsAlert,
  RefusedAlert,
  WantedMore,
  WishAlert,
} from '../../store/alerts/alerts.ts'
import { FRAME_ID } from '../../store/database/tables.ts'
import { NO_KEY } from '../../store/refusals.ts'

type AlertText = { readonly subject: string; readonly text: string }

export function textOf(alert: Alert): AlertText {
  switch (alert.kind) {
    case 'budget':
      return {
        subject: `${payerOf(alert)} has spent ${alert.threshold} % of its budget`,
        text: spendingText(alert),
      }
    case 'refused':
      return {
        subject: `${payerOf(alert)} refuses calls because of its budget`,
        text: `${refusedText(alert)} ${spendingText(alert)}`,
      }
    case 'refusals':
      return refusalsText(alert)
    case 'expiry':
      return expiryText(alert)
    case 'wish':
      return wishText(alert)
    case 'outage':
      return outageText(alert)
    case 'inactive':
      return inactiveText(alert)
    case 'ledger':
      return { subject: 'the ledger has raised an alarm', text: `${alert.message}.` }
  }
}

function inactiveText({ person, lastSeenAt, keys, count }: InactiveAlert): AlertText {
  const names = keys.map((name) => `"${oneLine(name)}"`).join(', ')
  const more = count > keys.length ? ` and ${count - keys.length} more` : ''
  return {
    subject: `${person} no longer signs in`,
    text: `${person} has not signed in since ${new Date(lastSeenAt).toUTCString()} and owns keys that go on working: ${names}${more}. Give them to somebody, pause or revoke them.`,
  }
}

function wishText(alert: WishAlert): AlertText {
  const { askedBy, wanted, reason } = alert
  const what = nameOf(alert, 'the key')
  return {
    subject: `${askedBy} asks for more for ${what}`,
    text: `${askedBy} asks for more for ${what}: ${wantedWords(wanted)}. Why: ${oneLine(reason)}`,
  }
}

/** What is asked for, in words. */
export function wantedWords({ budget, models, expires_at: expiry }: WantedMore): string {
  return [
    ...(budget === undefined ? [] : [`a budget of ${budget} USD`]),
    ...(models === undefined ? [] : [`the models ${models.join(', ')}`]),
    ...(expiry === undefined ? [] : [`an expiry on ${expiry.slice(0, 10)}`]),
  ].join('; ')
}

function outageText({ provider, target, reason, since, endedAt }: OutageAlert): AlertText {
  if (endedAt !== null) {
    return {
      subject: `the provider ${provider} answers again`,
      text: `The provider ${provider} answers again. It failed from ${new Date(since).toUTCString()} on.`,
    }
  }
  return {
    subject: `the provider ${provider} fails calls`,
    text: `Calls to ${target} have failed for at least half a minute (${reason}). Those that have no other target fail.`,
  }
}

function refusalsText(alert: RefusalsAlert): AlertText {
  const isUnknown = alert.accountId === NO_KEY
  const calls = isUnknown ? 'calls with unknown keys' : `calls of ${nameOf(alert, 'the key')}`
  return {
    subject: isUnknown
      ? 'many calls with unknown keys are refused'
      : `${nameOf(alert)} has many calls refused`,
    text: `${alert.count} ${calls} were refused with ${alert.code} within an hour.`,
  }
}

function refusedText(alert: RefusedAlert): string {
  const { requiredNanodollars: required, limitNanodollars: limit, spentNanodollars: spent } = alert
  if (required === null) {
    return 'What is left of the budget does not cover some calls, which are refused.'
  }
  // A lowered limit may be below what is spent.
  const left = formatUsd(limit > spent ? limit - spent : 0n)
  return `A call that could cost ${formatUsd(required)} USD was refused, because ${left} USD is left.`
}

function spendingText(alert: BudgetAlert | RefusedAlert): string {
  const { spentNanodollars: spent, limitNanodollars: limit, resetsAt } = alert
  const until =
    resetsAt === null ? '' : ` The budget resets on ${new Date(resetsAt).toUTCString()}.`
  return `${payerOf(alert)} has spent ${formatUsd(spent)} of ${formatUsd(limit)} USD.${until}`
}

function payerOf(alert: Alert): string {
  if (alert.accountId === FRAME_ID) return 'The frame above all keys'
  return nameOf(alert, isGroupId(alert.accountId) ? 'The group' : 'The key')
}

function expiryText(alert: ExpiryAlert): AlertText {
  const { daysBefore, expiresAt } = alert
  const what = nameOf(alert)
  const within = daysBefore === 1 ? 'within a day' : `within ${daysBefore} days`
  return {
    subject: `${what} expires ${within}`,
    text: `${what} stops working on ${new Date(expiresAt).toUTCString()}. Give it a later expiry if it is still needed.`,
  }
}

function nameOf({ accountName, accountId }: Alert, what = 'The key'): string {
  return `${what} "${oneLine(accountName ?? accountId)}"`
}

/** Names and reasons are free text: in a subject they must stay on one line. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
