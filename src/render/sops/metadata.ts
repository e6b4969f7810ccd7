// Tested by src/dialects/flux/recorded.contract.test.ts.
/** The metadata of a SOPS file: who can open it, and which of its values are encrypted. */
import { readWholeNumber } from '../../core/read-number.ts'
import { compilePattern } from '../kustomize/go-regexp.ts'
import { KustomizeError } from '../kustomize/kustomize-error.ts'
import { SopsError } from './sops-error.ts'
import { SopsBranch } from './sops-tree.ts'
import type { SopsValue } from './sops-tree.ts'

/** A wrapped data key, and who can open it. */
export interface MasterKey {
  readonly type: 'age' | 'pgp' | CloudService
  /** The recipient, the fingerprint or the address of the key. */
  readonly name: string
  readonly enc: string
}

/** Key services that are refused by name, with the field of their entries that names the key. */
export const CLOUD_SERVICES = {
  kms: { name: 'AWS KMS', id: 'arn' },
  gcp_kms: { name: 'Google Cloud KMS', id: 'resource_id' },
  azure_kv: { name: 'Azure Key Vault', id: 'vault_url' },
  hc_vault: { name: 'HashiCorp Vault', id: 'vault_address' },
  hckms: { name: 'Huawei Cloud KMS', id: 'key_id' },
} as const
export type CloudService = keyof typeof CLOUD_SERVICES

/** The metadata of a file. */
export interface SopsMetadata {
  readonly groups: readonly (readonly MasterKey[])[]
  /** The least number of groups that must open the file; 0 for one group. */
  readonly threshold: number
  readonly mac: string
  readonly lastModified: string
  readonly macOnlyEncrypted: boolean
  /** Whether the value at a path is encrypted. `comments` are those before the value and its parents. */
  isEncrypted(path: readonly string[], comments: readonly (readonly string[])[]): boolean
}

const DEFAULT_SUFFIX = '_unencrypted'
const RULES = [
  'unencrypted_suffix',
  'encrypted_suffix',
  'unencrypted_regex',
  'encrypted_regex',
  'unencrypted_comment_regex',
  'encrypted_comment_regex',
] as const
type Rule = (typeof RULES)[number]

const MAX_GROUPS = 32
const MAX_KEYS = 1_000

/** Reads the metadata; throws SopsError. */
export function readMetadata(branch: SopsBranch): SopsMetadata {
  const own = groupOf(branch)
  const listed = branch.get('key_groups')
  const groups = own.length > 0 ? [own] : branchesIn(listed).map(groupOf)
  if (groups.length === 0) throw new SopsError('No keys found in file')
  if (groups.length > MAX_GROUPS || groups.flat().length > MAX_KEYS) {
    throw new SopsError(`the file has more than ${MAX_GROUPS} key groups or ${MAX_KEYS} keys`)
  }
  return {
    groups,
    threshold: readWholeNumber(textOf(branch.get('shamir_threshold'))) ?? 0,
    mac: textOf(branch.get('mac')),
    lastModified: textOf(branch.get('lastmodified')),
    macOnlyEncrypted: textOf(branch.get('mac_only_encrypted')) === 'true',
    isEncrypted: selectionOf(branch),
  }
}

function groupOf(branch: SopsBranch): MasterKey[] {
  const clouds = Object.entries(CLOUD_SERVICES).flatMap(([type, { id }]) =>
    branchesIn(branch.get(type)).map((entry) => ({
      type: type as CloudService,
      name: textOf(entry.get(id)),
      enc: textOf(entry.get('enc')),
    })),
  )
  const age = branchesIn(branch.get('age')).map((entry) => ({
    type: 'age' as const,
    name: textOf(entry.get('recipient')),
    enc: textOf(entry.get('enc')),
  }))
  const pgp = branchesIn(branch.get('pgp')).map((entry) => ({
    type: 'pgp' as const,
    name: textOf(entry.get('fp')),
    enc: textOf(entry.get('enc')),
  }))
  // The keys that need no service are tried first.
  return [...age, ...pgp, ...clouds]
}

function branchesIn(value: SopsValue | undefined): SopsBranch[] {
  return Array.isArray(value) ? value.filter((item) => item instanceof SopsBranch) : []
}

/** Text of a scalar; empty for what is no scalar. */
function textOf(value: SopsValue | undefined): string {
  return typeof value === 'string' ||
    typeof value === 'boolean' ||
    typeof value === 'bigint' ||
    typeof value === 'number'
    ? String(value)
    : ''
}

function selectionOf(branch: SopsBranch): SopsMetadata['isEncrypted'] {
  const given = RULES.filter((rule) => textOf(branch.get(rule)) !== '')
  if (given.length > 1) throw new SopsError(`Cannot use more than one of ${given.join(', ')} in the same file`)
  const rule: Rule = given[0] ?? 'unencrypted_suffix'
  const text = given[0] === undefined ? DEFAULT_SUFFIX : textOf(branch.get(rule))
  const selects = rule.startsWith('encrypted')
  if (rule.endsWith('suffix')) return (path) => path.some((key) => key.endsWith(text)) === selects
  const pattern = patternOf(rule, text)
  if (!rule.includes('comment')) return (path) => path.some((key) => pattern.test(key)) === selects
  return (_path, comments) => comments.some((stack) => stack.some((comment) => pattern.test(comment))) === selects
}

function patternOf(rule: Rule, text: string) {
  try {
    return compilePattern(text)
  } catch (caught) {
    if (!(caught instanceof KustomizeError)) throw caught
    throw new SopsError(`${rule} is not a regular expression: ${caught.message}`)
  }
}
