// Every sentence, by name, that refuses people something when they administer the gateway, or explains why an alert did
// not arrive or a request cost what it did. Code names a sentence and gives its values; programs get the name and the
// values, people the sentence: in English from here, in other languages from the catalogues of web/, where a test
// requires each of them.

export const SENTENCES = {
  // Values of any kind.
  needed: 'this is required',
  unexpected: 'this is not valid',
  type_needed: 'this must be of the JSON type {{type}}',
  unknown_field: 'there is no field with this name',
  nothing_to_change: 'nothing to change: name at least one field',
  too_long: '{{field}} may be at most {{most}} characters long',
  text_nul: 'this contains a NUL character, which cannot be stored: remove it',
  too_many: 'at most {{most}} {{field}} are allowed',
  too_few: 'name at least {{least}}',
  number_least: 'enter a number of at least {{least}}',
  number_most: 'enter a number of at most {{most}}',
  whole_numbers: '{{field}} are whole numbers from 1 to {{most}}',
  not_one_of: '{{field}}: "{{value}}" is not one of {{allowed}}',
  choose_one_of: 'choose one of {{allowed}}',
  amount_shape: 'enter an amount in USD with at most 9 decimals, such as 12.50',
  amount_above_zero: 'the amount must be above 0',
  budget_range: 'a budget must be between 0 and {{most}} USD',
  cost_range: 'a cost must be between 0 and {{most}} USD',
  moment_shape: 'enter a date and time such as 2027-01-31T00:00:00Z',
  moment_range: 'enter a time from 1970 to 9999',
  moment_passed: 'choose a time in the future',
  since_before_until: 'since must be before until',
  reason_needed: 'a reason is needed: say why in a few words',
  url_shape: 'enter a URL that begins with https:// or http://',
  some_needed: 'name at least one, or leave it out to take all',
  url_credentials: 'enter the URL without a user name and password: they are not sent',
  json_needed: 'send the body as JSON, with "content-type: application/json"',
  body_too_large: 'the body is larger than this API accepts',

  // Manifests.
  amount_per_period: 'enter an amount and a period, such as 5/day',
  entry_twice: 'two entries have this name: give each its own',
  mode_fixed:
    'the mode of a key cannot be changed: give it another name, or leave its mode as it is',
  plan_changed:
    'something was changed since this plan was made, so nothing was done: look at the new plan',
  plan_outdated:
    '{{subject}} "{{name}}" was changed at the same moment, so nothing was done: try again',
  prune_without_keys:
    'to pause the keys that are not in it, a manifest needs a list of keys, even if it is empty',
  secrets_needed: 'send one secret for each new key of the plan, in its order',

  // Keys and the frame.
  no_such_key: 'there is no key with this id',
  no_key_named:
    'there is no key with the id "{{key}}", and no key with this name that is not revoked: `tollgate keys list` shows all',
  no_such_account: 'there is no such account',
  no_such_window: 'this account has no such budget',
  no_such_group: 'there is no such group',
  group_needed: 'choose a group: you manage keys only within groups',
  group_setting_above:
    'this needs the permission {{permission}} everywhere: those who manage a group from within do not change its {{field}}',
  self_service_off:
    'members of this group do not manage keys themselves: ask who manages the group',
  own_key_owner: 'members of a group manage only keys of their own',
  own_key_moved: 'only those who manage both groups can move a key',
  own_key_budget:
    'members of this group need a budget for each key, of at most {{most}} USD ({{period}})',
  own_key_budget_needed: 'members of this group need a budget for each key',
  own_key_days: 'keys of members of this group expire after at most {{days}} days',
  own_keys_full: 'members of this group have at most {{most}} keys each: revoke one first',
  own_key_environment: 'members of this group choose one of these environments: {{environments}}',
  own_key_paused: 'somebody who manages this group paused the key: only they can resume it',
  own_key_rate: 'members of this group choose a limit of at most {{most}}',
  no_such_wish: 'there is no such request',
  wish_not_own: 'only the owner of a key asks for more for it, or takes that back',
  wish_open: 'there is an open request for this key already: take it back first',
  wish_decided: 'this request is not open any more',
  wish_not_more: 'ask for a budget above the present one',
  wish_not_later: 'ask for a later expiry than the present one',
  wish_empty: 'say what you need: a budget, models or a later expiry',
  wish_grants_nothing: 'this grants nothing: decline the request instead',
  wish_above_ceiling:
    'the group does not allow {{models}}: change its models first, or leave them out',
  group_archived: 'this group is archived: activate it first',
  window_same_period:
    'the second window needs another period than the budget, which is by {{period}}',
  request_cost_range: 'what one request may cost must be above 0 and at most {{most}} USD, or none',
  key_id_shape: 'this is not the id of a key',
  group_id_shape: 'this is not the id of a group',
  key_name_needed: 'a key needs a name that says which application and environment it is for',
  key_name_like_id: 'a name may not look like the id of a key',
  key_name_taken:
    'there is already a key named "{{name}}": choose another name, or revoke that key first',
  key_expiry_shape: 'an expiry is a date and time such as 2027-01-31T00:00:00Z',
  key_expiry_passed: 'this expiry is in the past: choose a time in the future, or revoke the key',
  key_rate: '{{field}} is a whole number from 1 to {{most}}, or none',
  key_revoked: 'key "{{name}}" is revoked, and that is final: create a new key',
  key_revoked_for_good: 'this key is revoked, and that is final',
  key_model_missing:
    'model "{{model}}" is not on the allowlist of this key, so it cannot be removed',
  key_without_model: 'this key may not call any model: add one to its allowlist first',
  key_without_limit: 'it has no limit of its own, so there is nothing to add to',
  cap_twice: 'there are two budgets for the model "{{model}}": give one',
  cap_model_unknown:
    'this key may not call a model named "{{model}}", so there is nothing to limit: add it to its models first',
  key_name_ambiguous:
    'several keys are named "{{name}}": write GROUP/NAME (or none/NAME for the one outside groups), or its id',
  account_name_ambiguous: 'a key and a group are both named "{{name}}": give the id',
  overlap_range: 'the overlap of a rotation is between 0 and 7 days',
  timezone_unknown: '"{{value}}" is not a time zone: use an IANA name such as Europe/Berlin',
  key_changed:
    'key "{{name}}" has changed since you read it: look at its current values, and make your change again',
  frame_changed:
    'the frame has changed since you read it: look at its current values, and make your change again',
  version_unknown:
    'there is no version {{version}}: the newest is {{newest}}, so read it again before you change it',
  version_needed:
    'send the version this change is based on: the ETag of the answer that showed it, as If-Match',
  idempotency_key_shape: 'it must have 1 to {{most}} characters',
  idempotency_key_taken:
    'this Idempotency-Key was already used for another request: choose a new one',
  idempotency_key_running:
    'the first request with this Idempotency-Key is still running, or was cut off: check whether it took effect before you send it again with a new one',

  // Groups.
  no_group_named:
    'there is no group with the id or the name "{{group}}": `tollgate groups list` shows all',
  group_name_needed: 'a group needs a name that says which team, department or customer it is',
  group_name_like_id: 'a name may not look like the id of a group',
  group_name_reserved: 'a group may not be called "{{name}}": that word has another meaning here',
  group_name_slash: 'the name of a group may not contain a slash, because GROUP/NAME names a key',
  group_name_taken:
    'there is already a group named "{{name}}", perhaps an archived one: choose another name',
  group_changed:
    'group "{{name}}" has changed since you read it: look at its current values, and make your change again',
  ceiling_model_missing:
    'model "{{model}}" is not among the models of this group, so it cannot be removed',
  second_factor_needed: 'set up a second factor in your account first: it is required here',
  from_sign_on: 'the single sign-on provider decides what {{email}} may do here: change it there',
  sign_on_groups_absent: 'people.single_sign_on.groups is not configured',
  keys_undecided:
    '{{email}} owns keys ({{count}}: {{names}}): decide first whether they are given to somebody, paused or revoked',
  keys_receiver_needed: 'say who gets the keys',
  member_missing: '{{email}} is not a member of this group',

  // Usage, requests, alerts.
  report_groups:
    'group by day, hour, group, key, owner, environment, tag, model, provider or endpoint, or by several of them, separated by commas',
  report_too_long:
    'this would be more than {{most}} rows: choose a shorter time, one key, or fewer groups',
  month_shape: 'enter a month such as 2026-11',
  month_to_come: '{{month}} has not begun yet',
  month_not_kept:
    'single requests of {{month}} are not all kept any more: ledger.keep_usage is {{days}} days, and a statement adds up every one',
  report_hours: 'a report by hour can cover at most {{days}} days',
  no_such_request:
    'there is no request {{id}}: either it was refused before it was admitted, and the log of the gateway says why under this id, or its record has expired',
  request_running: 'request {{id}} is still running: it has a hold and no cost yet',
  no_such_hold:
    'hold {{id}} is not closed, or its row is gone: `tollgate ledger orphans` lists what can be adjusted',
  no_such_destination: 'there is no such alert destination',
  destination_taken: 'there is already a destination named "{{name}}": choose another name',
  destination_address: 'a new destination needs either webhook or email',
  destination_hidden:
    'this address is cut short, as an export writes it, and no destination has it: write all of it',
  destination_kind: 'a destination stays what it is: remove it, and add another one',

  // People, roles, tokens.
  email_needed: 'enter your e-mail address',
  email_shape: 'enter an e-mail address',
  email_wrong: '"{{email}}" is not an e-mail address',
  name_needed: 'enter a name',
  own_name_needed: 'enter your name',
  purpose_needed: 'enter what it is for',
  role_needed: 'choose a role',
  code_needed: 'enter the code',
  code_wrong: 'this is not the code the app shows now',
  password_needed: 'enter your password',
  password_wrong: 'this is not your password',
  password_short: 'use at least {{least}} characters',
  password_long: 'use at most {{most}} characters',
  password_monotonous: 'use a greater variety of characters',
  password_is_address: 'your e-mail address cannot be your password',
  person_unknown: 'there is nobody called "{{person}}" here',
  person_known: '{{email}} already has an account here',
  person_blocked: '{{email}} is blocked',
  person_came: '{{email}} has already joined: reset the password instead',
  person_unlinked: '{{email}} is not linked to an identity at a single sign-on provider',
  person_not_come: '{{email}} has not joined yet: invite them again instead',
  self_block: 'you cannot block yourself: somebody else has to',
  self_email: 'change your own address in your account, where you confirm it with your password',
  self_reset: 'you cannot reset yourself: somebody else has to',
  self_unlink: 'you cannot unlink yourself: somebody else has to',
  self_remove: 'you cannot remove yourself: somebody else has to',
  role_unknown: 'there is no role with this id',
  role_not_found: 'there is no role "{{role}}": choose one of {{roles}}',
  role_taken: 'there is already a role "{{name}}"',
  role_in_use: 'some people have the role "{{name}}": give them another one first',
  role_of_tokens: 'service tokens have the role "{{name}}": revoke them first',
  role_built_in: '"{{name}}" is built in and cannot be changed: create a role of your own',
  last_people_manager:
    'nobody could manage people afterwards: give somebody else a role with that permission first',
  last_configuration_manager:
    'nobody could manage the configuration afterwards: give somebody else a role with that permission first',
  token_unknown: 'you have no such token',
  token_lifetime: 'a token lasts at most {{days}} days',
  service_token_unknown:
    'there is no service token "{{token}}": `tollgate tokens list` shows them all',
  service_token_taken: 'there is already a service token "{{name}}": choose another name',
  service_token_name:
    'a service token needs a name of 1 to {{most}} characters that says what it is for',
  session_unknown: 'you have no such session',
  two_factor_on: 'the second factor is already on: switch it off first',
  two_factor_off: 'the second factor is off',

  // Signing in.
  sign_in_needed:
    'sign in, or send an access token as "Authorization: Bearer …"; API keys do not work here',
  sign_in_again: 'sign in again',
  person_inactive:
    'nobody has signed in as the owner of this token for {{days}} days: sign in, and it works again',
  sign_in_wrong:
    'the e-mail address or the password is wrong: try again, or ask an administrator for a link to set a new password',
  sign_in_wrong_step:
    'this code is wrong or has expired: enter the newest one, or start signing in again',
  sign_in_locked: 'too many wrong codes: wait a while, then start signing in again',
  sign_in_often: 'too many attempts: try again in {{minutes}} min',
  sign_on_absent: 'single sign-on is not set up here',
  sign_on_silent: 'the single sign-on provider does not answer: try again shortly',
  permission_missing:
    'your role lacks the permission "{{permission}}": ask an administrator for it',
  permission_of_person:
    '{{email}} holds the permission "{{permission}}", which you do not hold yourself',
  permission_of_role:
    'the role "{{role}}" holds the permission "{{permission}}", which you do not hold yourself',
  permission_of_token:
    'your role lacks the permission "{{permission}}", so your tokens cannot have it',
  token_lacks_permission:
    'this token lacks the permission "{{permission}}": use one that has it, or ask an administrator for the permission if your role lacks it',
  token_not_enough: 'an access token cannot do this: sign in instead',
  other_site:
    'this change comes from another site, so nothing was done: open {{url}}, or set admin.public_url to the address you use',
  link_used: 'this link has already been used: sign in, or ask for a new one',
  link_expired: 'this link has expired: ask for a new one',
  link_withdrawn: 'this link no longer works: ask for a new one',
  link_unknown: 'there is no such link: copy all of it, or ask for a new one',
  account_blocked: 'this account is blocked: ask an administrator',

  // Refusals, as the audit record has them.
  sign_in_wrong_password: 'wrong e-mail address or password, or blocked',
  sign_in_wrong_code: 'wrong code',
  sign_on_refused: 'single sign-on: {{answer}}',
  tries_exhausted: 'more than {{most}} tries in {{minutes}} minutes ({{kind}})',
  more_refused: 'more attempts were refused in this minute: they are counted here',

  // Why an alert did not arrive.
  webhook_no_host: 'there is no host with this name ({{host}})',
  webhook_no_lookup: 'the host name could not be looked up just now ({{host}})',
  webhook_refused: 'the connection was refused: nothing listens at this address ({{host}})',
  webhook_broken_off: 'the other side closed the connection ({{host}})',
  webhook_no_way: 'there is no route to this host ({{host}})',
  webhook_no_connection: 'no connection could be made in time ({{host}})',
  webhook_no_answer: 'the host took the message but did not answer in time ({{host}})',
  webhook_metadata:
    "this is the address of a cloud's metadata service: nothing is sent there ({{host}})",
  webhook_certificate: 'the certificate of {{host}} is not valid ({{code}})',
  webhook_late: '{{host}} did not answer in time',
  webhook_failed_because: 'the connection to {{host}} failed: {{why}}',
  webhook_failed: 'the connection to {{host}} failed',
  no_smtp: 'no SMTP server is configured: set admin.smtp',
  destination_off: 'the destination was switched off',
  destination_removed: 'the destination was removed',

  // How the cost of a request came about.
  cost_never_sent: 'it was never sent to a provider, so it cost nothing',
  cost_orphaned: 'its node died before it was settled, so it was charged what it held',
  cost_by_hand: 'its cost was set by hand',
  cost_taken_over: 'what the key had spent at the gateway that it came from',
  cost_of_free_kind: 'calls of this kind cost nothing',
  cost_untaken: 'no provider took it, so it cost nothing',
  cost_unanswered: 'no provider answered it',
  cost_counted: 'what was counted, at this price',
  cost_counted_here:
    'the provider reported no usable count, so what was received was counted and charged',
  cost_provider_count: 'the provider’s count at this price',
  cost_up_to_hold:
    'the provider reported no usable count, and an estimate is never charged above its hold',
  cost_unexplained: 'the charge does not follow from its count and its price: please report this',
  cost_beside_tokens: 'and what the provider bills besides tokens',
  cost_of_failed: 'and the input of failed attempts, which may be billed',

  // Why a target was called.
  target_only: 'the only target',
  target_by_weight: 'by weight, for this conversation',
  target_fallback: 'a fallback',
  target_of_test_key: 'a test key',
  target_while_others_fail: 'while others fail',
  target_after_failure: 'the one before it failed',

  // The gateway itself.
  nothing_there: 'there is nothing at {{route}}',
  database_unreachable: 'the database cannot be reached: try again shortly',
  fault: 'Tollgate failed to handle this request; the log has the details under this request id',
} as const

export type SentenceName = keyof typeof SENTENCES

/** As programs get it and the database keeps it. */
export type NamedSentence = {
  readonly name: SentenceName
  readonly values: Readonly<Record<string, string | number>>
}

export type Sentence = NamedSentence & { readonly text: string }

type NamesIn<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

type ValuesOf<Name extends SentenceName> = Readonly<
  Record<NamesIn<(typeof SENTENCES)[Name]>, string | number>
>

/** The values for a sentence's placeholders; no argument if it has none. */
type Given<Name extends SentenceName> = [NamesIn<(typeof SENTENCES)[Name]>] extends [never]
  ? []
  : [values: ValuesOf<Name>]

export function sentence<Name extends SentenceName>(name: Name, ...given: Given<Name>): Sentence {
  const named: NamedSentence = { name, values: given[0] ?? {} }
  return { ...named, text: wordsOf(named) }
}

/** In English. A row may hold a name that only a later release knows: it stands for itself. */
export function wordsOf({ name, values }: NamedSentence): string {
  const template: string = SENTENCES[name] ?? name
  return template.replace(/\{\{(\w+)\}\}/g, (_, each: string) => String(values[each]))
}

/** A sentence without values, found by its text: a schema reports what is wrong as text alone. */
export function sentenceWithText(text: string): Sentence | undefined {
  const found = NAMES.find((name) => SENTENCES[name] === text)
  return found && { name: found, values: {}, text }
}

const NAMES = Object.keys(SENTENCES) as readonly SentenceName[]
