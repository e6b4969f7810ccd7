// Tested by src/cli/commands/policy/dryrun.contract.test.ts.
/** Runs a CertificatePolicy against Secrets of files. */
import { RE2JS, RE2JSException } from 're2js'
import { evaluateCertificates } from '../../../plan/policy/evaluate-certificates.ts'
import type { CertificateResult } from '../../../plan/policy/evaluate-certificates.ts'
import { fieldOf, isGoObject, textAt } from '../../../plan/policy/go-value.ts'
import type { GoObject } from '../../../plan/policy/go-value.ts'
import { DryRunError, loadCluster, readStrict } from './dry-run.ts'
import type { InputText } from './dry-run.ts'

/** Evaluates the policy once; a DryRunError says why it could not be evaluated. */
export function dryRunCertificates(input: {
  readonly policy: string
  readonly objects: readonly InputText[]
  readonly mappings?: string
  readonly now: number
}): Exclude<CertificateResult, { problem: string }> {
  const policy = certificatePolicyOf(readStrict(input.policy))
  const result = evaluateCertificates({ policy, cluster: loadCluster(input), now: input.now, matches })
  if ('problem' in result) throw new DryRunError(result.problem)
  return result
}

/** The policy itself, or the first CertificatePolicy of a Policy. */
function certificatePolicyOf(document: GoObject): GoObject {
  if (textAt(document, 'kind') === 'CertificatePolicy') return document
  const spec = fieldOf(document, 'spec')
  const templates = isGoObject(spec) ? fieldOf(spec, 'policy-templates') : undefined
  for (const template of Array.isArray(templates) ? templates : []) {
    const definition = isGoObject(template) ? fieldOf(template, 'objectDefinition') : undefined
    if (isGoObject(definition) && textAt(definition, 'kind') === 'CertificatePolicy') return definition
  }
  throw new DryRunError('the input has no CertificatePolicy: give a CertificatePolicy, or a Policy with one')
}

/** In linear time, because the author of a pattern may be less trusted than its reader. */
function matches(pattern: string, text: string): boolean | undefined {
  try {
    return RE2JS.compile(pattern).matcher(text).find()
  } catch (caught) {
    if (caught instanceof RE2JSException) return undefined
    throw caught
  }
}
