// What the commands for keys, groups and the frame work on: the database of this machine (local.ts), or a gateway elsewhere
// by its admin API (remote.ts). Both speak in the words of that API, and texts are made from what programs read, so that a
// command says the same of either.
import type { ModelAnswer } from '../../admin/contract/gateway.ts'
import type {
  FrameAnswer,
  FrameChangeBody,
  FrameState,
  GroupBody,
  GroupDetail,
} from '../../admin/contract/groups.ts'
import type { KeyChangeBody, KeyDetail, KeyFilters, NewKeyBody } from '../../admin/contract/keys.ts'
import type { MemberAnswer } from '../../admin/contract/people.ts'

export type Gateway = {
  now(): number
  /** All that match, in order of creation. */
  listKeys(filter: KeyListFilter): Promise<KeyListing>
  /** By id, name, or GROUP/NAME. */
  findKey(key: string): Promise<ShownKey>
  createKey(settings: NewKeyBody): Promise<ShownKeyWithSecret>
  changeKey(key: string, change: KeyChangeBody): Promise<ShownKey>
  pauseKey(key: string): Promise<ShownKey>
  resumeKey(key: string): Promise<ShownKey>
  revokeKey(key: string, reason: string): Promise<ShownKey>
  rotateKey(key: string, overlapMs: number): Promise<ShownKeyWithSecret>
  listGroups(): Promise<readonly ShownGroup[]>
  /** By id or name. */
  findGroup(group: string): Promise<ShownGroup>
  createGroup(settings: GroupBody & { readonly name: string }): Promise<ShownGroup>
  changeGroup(group: string, change: GroupChangeBody): Promise<ChangedGroup>
  archiveGroup(group: string): Promise<ShownGroup>
  activateGroup(group: string): Promise<ShownGroup>
  listMembers(group: string): Promise<readonly MemberAnswer[]>
  putMember(group: string, member: NamedMember): Promise<readonly MemberAnswer[]>
  removeMember(group: string, leaving: Leaving): Promise<readonly MemberAnswer[]>
  /** Answers with those of the other group. */
  moveMember(group: string, move: Move): Promise<readonly MemberAnswer[]>
  readFrame(): Promise<ShownFrame>
  changeFrame(change: FrameChangeBody): Promise<ShownFrame>
  listModels(): Promise<readonly ShownModel[]>
}

/** Owners and environments in any spelling; the group by id or name, or none. */
export type KeyListFilter = Pick<KeyFilters, 'status'> & {
  readonly [Label in 'owner' | 'environment' | 'tag' | 'group']?: string | undefined
}

export type KeyListing = {
  readonly keys: readonly ListedKey[]
  /** Those who are confined to groups learn only whether it has room. */
  readonly frame: ShownFrame | FrameState
}

type GroupChangeBody = GroupBody & { readonly reason?: string | undefined }

type NamedMember = { readonly person: string; readonly role: string }

/** What becomes of their keys; needed where they have some. */
type Leaving = {
  readonly person: string
  readonly keys?: 'give' | 'pause' | 'revoke' | undefined
  readonly to?: string | undefined
}

type Move = Omit<Leaving, 'keys'> & {
  readonly group: string
  readonly role?: string | undefined
  readonly keys?: Leaving['keys'] | 'take'
}

/** What programs read of a key; people read a little more. */
const KEY_FIELDS = [
  ...(['id', 'name', 'group', 'mode', 'environment', 'owner', 'owner_person'] as const),
  ...(['description', 'tags', 'status', 'models', 'permissions', 'budget', 'period'] as const),
  ...(['timezone', 'week_start', 'spent', 'held', 'remaining', 'resets_at', 'window'] as const),
  ...(['model_budgets', 'request_cost_max', 'rpm', 'tpm', 'concurrency', 'when_tight'] as const),
  ...(['created_at', 'expires_at', 'last_used_at'] as const),
]

type KeyField = (typeof KEY_FIELDS)[number]
type ForPeople = 'top_up' | 'old_secret' | 'callable_models' | 'revoked_at' | 'revoked_reason'

/** In a list. */
export type ListedKey = Readonly<Pick<KeyDetail, KeyField>> & {
  /** How many models it can call. */
  readonly model_count: number
}
export type ShownKey = Readonly<Pick<KeyDetail, KeyField | ForPeople>>
export type ShownKeyWithSecret = ShownKey & { readonly secret: string }

const GROUP_FIELDS = [
  ...(['id', 'name', 'description', 'status', 'budget', 'period', 'timezone'] as const),
  ...(['week_start', 'window', 'request_cost_max', 'rpm', 'tpm', 'concurrency'] as const),
  ...(['models', 'key_rules', 'spent', 'held', 'remaining', 'resets_at', 'allocated'] as const),
  ...(['keys', 'members', 'created_at'] as const),
]

export type ShownGroup = Readonly<Pick<GroupDetail, (typeof GROUP_FIELDS)[number] | 'top_up'>>
/** With the names of keys that can call nothing now. */
export type ChangedGroup = ShownGroup & Pick<GroupDetail, 'keys_without_models'>

const FRAME_FIELDS = [
  ...(['budget', 'period', 'timezone', 'week_start', 'spent', 'held', 'remaining'] as const),
  ...(['resets_at', 'window', 'allocated'] as const),
]

export type ShownFrame = Readonly<Pick<FrameAnswer, (typeof FRAME_FIELDS)[number] | 'top_up'>>

type ModelField = Exclude<keyof ModelAnswer, 'targets' | 'health' | 'key_count'>
type ShownTarget = Pick<
  ModelAnswer['targets'][number],
  'provider' | 'model' | 'weight' | 'role' | 'price'
>

/** As the configuration has it: how its targets fare, only a running gateway knows. */
export type ShownModel = Readonly<Pick<ModelAnswer, ModelField>> & {
  readonly targets: readonly ShownTarget[]
}

/** As programs read it. */
export function keyOutput(key: ShownKey | ListedKey) {
  const group = key.group && { id: key.group.id, name: key.group.name }
  return { ...picked(key, KEY_FIELDS), group }
}

export function groupOutput(group: ShownGroup) {
  return picked(group, GROUP_FIELDS)
}

export function frameOutput(frame: ShownFrame) {
  return picked(frame, FRAME_FIELDS)
}

function picked<Whole extends object, Field extends keyof Whole>(
  whole: Whole,
  fields: readonly Field[],
): object {
  return Object.fromEntries(fields.map((field) => [field, whole[field]]))
}
