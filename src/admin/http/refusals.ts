// Records what people were refused: a missing permission, another site's request, a change that came too late or that
// the current state does not allow.
import {
  recordRefusal,
  type AuditAction,
  type AuditSubject,
  type Refused,
} from '../../store/audit/record.ts'
import type { Store } from '../../store/database/store.ts'
import { AUDIT_SUBJECTS } from '../contract/audit.ts'
import type { RouteName } from '../contract/contract.ts'
import { AdminError, type AdminErrorCode } from '../contract/errors.ts'
import { storeOf, type Sender } from './request.ts'

const RECORDED: readonly AdminErrorCode[] = [
  'not_permitted',
  'wrong_origin',
  'wrong_state',
  'duplicate_name',
  'version_conflict',
]

type RefusedRequest = Sender & {
  readonly route: RouteName
  readonly params: unknown
  readonly error: AdminError
}

export async function recordRefused(store: Store, refused: RefusedRequest): Promise<void> {
  const { route, params, person, error } = refused
  if (!RECORDED.includes(error.code) || error.details.isRecorded) return
  // Of callers who are not signed in, only requests that another site sent.
  if (person === undefined && error.code !== 'wrong_origin') return
  const action = AUDIT_ACTIONS[route]
  const id: unknown = person && Object(params)['id']
  await recordRefusal(storeOf({ store }, refused), {
    action,
    subject: person === undefined ? 'person' : subjectOf(action),
    subjectId: typeof id === 'string' ? id : '',
    sentence: error.sentence,
  })
}

/** Actions that name none of the subjects, such as `usage.read`, are filed under keys. */
function subjectOf(action: AuditAction): AuditSubject {
  const [first] = action.split('.')
  return AUDIT_SUBJECTS.find((subject) => subject === first) ?? 'key'
}

/** What was tried. Its `subjectId` is an id, or whatever the caller sent in its place. */
export type RefusedAction = Omit<Refused, 'sentence'>

/** Records an error, and returns it marked as recorded, to be thrown. */
export async function recordedRefusal(
  store: Store,
  tried: RefusedAction,
  error: AdminError,
): Promise<AdminError> {
  await recordRefusal(store, { ...tried, sentence: error.sentence })
  return new AdminError(error.code, error.sentence, { ...error.details, isRecorded: true })
}

/** The audit action recorded when a route refuses a request: the same one as when the route succeeds. */
const AUDIT_ACTIONS: Readonly<Record<RouteName, AuditAction>> = {
  readOpenApi: 'gateway.read',
  about: 'gateway.read',
  listKeys: 'key.read',
  listLabels: 'key.read',
  exportKeys: 'key.read',
  readKey: 'key.read',
  findKey: 'key.read',
  readLimits: 'key.read',
  createKey: 'key.create',
  changeKey: 'key.change',
  changeKeys: 'key.change',
  pauseKey: 'key.pause',
  resumeKey: 'key.resume',
  revokeKey: 'key.revoke',
  rotateKey: 'key.rotate',
  endOverlap: 'key.end_overlap',
  resetKey: 'key.reset_spend',
  topUpKey: 'key.top_up',
  testKey: 'key.test',
  play: 'key.play',
  listWishes: 'key.read',
  addWish: 'key.wish',
  grantWish: 'key.grant_wish',
  declineWish: 'key.decline_wish',
  withdrawWish: 'key.withdraw_wish',
  listGroups: 'group.read',
  listOwnGroups: 'group.read',
  readGroup: 'group.read',
  createGroup: 'group.create',
  changeGroup: 'group.change',
  archiveGroup: 'group.archive',
  activateGroup: 'group.activate',
  topUpGroup: 'group.top_up',
  resetGroup: 'group.reset_spend',
  listMembers: 'group.read',
  putMember: 'group.add_member',
  removeMember: 'group.remove_member',
  moveMember: 'group.remove_member',
  inviteMember: 'group.add_member',
  readFrame: 'frame.read',
  changeFrame: 'frame.change',
  topUpFrame: 'frame.top_up',
  resetFrame: 'frame.reset_spend',
  readFrameAlerts: 'alert.read',
  changeFrameAlerts: 'frame.alerts',
  readKeyAlerts: 'alert.read',
  changeKeyAlerts: 'key.change',
  listDestinations: 'alert.read',
  listDeliveries: 'alert.read',
  createDestination: 'alert.create',
  changeDestination: 'alert.change',
  deleteDestination: 'alert.delete',
  testDestination: 'alert.test',
  applyManifest: 'key.change',
  exportManifest: 'key.read',
  listModels: 'model.read',
  readUsage: 'usage.read',
  exportUsage: 'usage.read',
  readStatement: 'usage.read',
  exportStatement: 'usage.read',
  readKeyUsage: 'usage.read',
  listRequests: 'request.read',
  readRequest: 'request.read',
  listKeyRequests: 'request.read',
  listRefusals: 'request.read',
  listKeyRefusals: 'request.read',
  listAudit: 'audit.read',
  exportAudit: 'audit.read',
  listKeyActivity: 'audit.read',
  listPeople: 'person.read',
  readPerson: 'person.read',
  trySignOn: 'person.read',
  invitePerson: 'person.invite',
  inviteAgain: 'person.make_invitation',
  changePerson: 'person.change',
  resetPassword: 'person.make_reset_link',
  resetTwoFactor: 'person.reset_two_factor',
  unlinkPerson: 'person.unlink_identity',
  signOutPerson: 'person.sign_out',
  blockPerson: 'person.block',
  unblockPerson: 'person.unblock',
  removePerson: 'person.remove',
  listRoles: 'role.read',
  createRole: 'role.create',
  changeRole: 'role.change',
  removeRole: 'role.remove',
  readProfile: 'person.read',
  changeProfile: 'person.change',
  changeEmail: 'person.change',
  changePassword: 'person.set_password',
  startTwoFactor: 'person.start_two_factor',
  confirmTwoFactor: 'person.start_two_factor',
  endTwoFactor: 'person.end_two_factor',
  newRecoveryCodes: 'person.new_recovery_codes',
  listSessions: 'person.read',
  endSession: 'person.sign_out',
  signOutEverywhere: 'person.sign_out_everywhere',
  listTokens: 'token.read',
  createToken: 'token.create',
  revokeToken: 'token.revoke',
  readSession: 'person.read',
  signIn: 'person.sign_in',
  enterCode: 'person.sign_in',
  signOut: 'person.sign_out',
  startSingleSignOn: 'person.sign_in',
  finishSingleSignOn: 'person.sign_in',
  lookAtLink: 'person.use_link',
  useLink: 'person.use_link',
}
