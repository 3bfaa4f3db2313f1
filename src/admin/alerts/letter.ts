// An alert in words, in full sentences for readers who see nothing else: in a mail, and as the `text` of a webhook.
import { formatUsd } from '../../core/money.ts'
import type { Alert, BudgetAlert, ExpiryAlert, RefusedAlert } from '../../store/alerts/alerts.ts'
import { FRAME_ID } from '../../store/database/tables.ts'

type Letter = { readonly subject: string; readonly text: string }

export function letterOf(alert: Alert): Letter {
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
    case 'expiry':
      return expiryLetter(alert)
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
  return alert.accountId === FRAME_ID ? 'The frame above all keys' : nameOf(alert)
}

function expiryLetter(alert: ExpiryAlert): Letter {
  const { daysBefore, expiresAt } = alert
  const what = nameOf(alert)
  const within = daysBefore === 1 ? 'within a day' : `within ${daysBefore} days`
  return {
    subject: `${what} expires ${within}`,
    text: `${what} stops working on ${new Date(expiresAt).toUTCString()}. Give it a later expiry if it is still needed.`,
  }
}

/** Key names are free text: in a subject they must stay on one line. */
function nameOf({ accountName, accountId }: Alert): string {
  return `The key "${(accountName ?? accountId).replaceAll(/\s+/g, ' ')}"`
}
