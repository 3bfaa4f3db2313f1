// What people can do or try, as the record calls it: the thing and the verb. The interface has words for each.

/** Recorded when they are done, and when they are refused. */
export const CHANGES = [
  ...(['key.create', 'key.change', 'key.pause', 'key.resume', 'key.revoke', 'key.rotate'] as const),
  ...(['key.end_overlap', 'key.reset_spend', 'key.top_up', 'key.adjust'] as const),
  ...([
    'frame.change',
    'frame.alerts',
    'frame.reset_spend',
    'frame.top_up',
    'frame.adjust',
  ] as const),
  ...(['alert.create', 'alert.change', 'alert.delete'] as const),
  ...(['person.setup', 'person.invite', 'person.make_invitation', 'person.join'] as const),
  ...(['person.change', 'person.block', 'person.unblock', 'person.remove'] as const),
  ...(['person.make_reset_link', 'person.set_password', 'person.prove'] as const),
  ...(['person.start_two_factor', 'person.end_two_factor', 'person.reset_two_factor'] as const),
  ...(['person.new_recovery_codes', 'person.use_link'] as const),
  ...(['person.sign_in', 'person.sign_out', 'person.sign_out_everywhere'] as const),
  ...(['role.create', 'role.change', 'role.remove', 'token.create', 'token.revoke'] as const),
] as const

/** Recorded when they are refused alone: they change nothing. */
export const LOOKS = [
  ...(['key.read', 'key.test', 'key.play', 'frame.read', 'model.read', 'usage.read'] as const),
  ...(['request.read', 'audit.read', 'alert.read', 'alert.test', 'person.read'] as const),
  ...(['role.read', 'token.read', 'gateway.read'] as const),
] as const

export type AuditAction = (typeof CHANGES)[number] | (typeof LOOKS)[number]
