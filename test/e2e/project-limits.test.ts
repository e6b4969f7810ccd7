/** The example of a Project, from its lines to the document that an agent verifies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Project } from '../../src/kinds/native/project.ts'
import {
  allowedSets,
  bundleRefusals,
  contentRefusals,
  placementRefusals,
  refusalMessage,
  refusedBy,
  sourceRefusals,
} from '../../src/plan/projects/decide.ts'
import { decideExecutor, limitsOf, objectRefusal } from '../../src/plan/projects/limits.ts'
import { contestedNamespaces, everythingAllowed, indexProjects, projectOf } from '../../src/plan/projects/project-of.ts'
import type { DocumentProject } from '../../src/wire/document/cluster-document.ts'
import { openDocument, PROJECTS_FEATURE, signDocument } from '../../src/wire/document/signed-document.ts'
import { buildDocument, buildTrust } from '../../src/testing/fixtures/wire-builders.ts'

const example = Project.examples[0] as unknown as Project
const other = { ...example, metadata: { name: 'default' }, spec: everythingAllowed(['default']) }
const index = indexProjects([example, other])

test('the example limits its own namespace', () => {
  const { project } = projectOf(index, 'team-a')
  assert.ok(project)
  assert.deepEqual(contestedNamespaces(index, project), [])
  assert.deepEqual(allowedSets(project), ['stores'])
  assert.deepEqual(placementRefusals(project, ['stores']), [])
  const source = { git: { url: 'https://git.example.com/team-a/shop' } }
  assert.deepEqual(sourceRefusals(project, source as never), [])
  const metadata = { name: 'shop', namespace: 'team-a' }
  assert.deepEqual(bundleRefusals(project, { metadata, spec: { source: { name: 's' } } as never }), [])
  const web = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'team-a-web', name: 'web' }
  const refusal = refusedBy(contentRefusals(project, [web]))
  assert.equal(refusal && refusalMessage(refusal), 'Project team-a: spec.kinds does not list batch/Job.')
})

test('the limits of the example survive the signature, and the agent decides as the hub did', () => {
  const limits = limitsOf(example)
  assert.ok(limits)
  const { trust } = buildTrust()
  const rules = { trustVersion: 1, projects: [{ ...limits, namespaces: ['team-a'] }] }
  const document = { ...buildDocument(), requires: ['sets/v1', PROJECTS_FEATURE], rules }
  const opened = openDocument(signDocument(trust.signer, document), trust.newest.signers)
  const rule: DocumentProject = opened.document.rules.projects![0]!
  assert.deepEqual(decideExecutor(rule, undefined), { executor: { namespace: 'team-a-system', name: 'deployer' } })
  const map = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'x' }
  assert.equal(
    objectRefusal(rule, map),
    'Project team-a: spec.targetNamespaces does not list kube-system (ConfigMap kube-system/x)',
  )
})
