// A caller without any rights, to which each test adds what it needs.
import type { Caller } from '../../src/access/authenticate.ts'

export const SAMPLE_CALLER: Caller = {
  keyId: 'key_1',
  name: 'demo',
  mode: 'live',
  status: 'active',
  expiresAt: null,
  secretValidUntil: null,
  secretHash: null,
  models: new Set(),
  permissions: new Set(),
  allowVersion: 1,
  groupId: null,
  groupVersion: 0,
  groupName: null,
  isGroupArchived: false,
  whenTight: 'cap',
}
