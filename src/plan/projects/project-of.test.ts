import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { contestedNamespaces, indexProjects, projectOf } from './project-of.ts'
import type { ProjectFacts } from './limits.ts'

const project = (name: string, ...namespaces: string[]): ProjectFacts => ({ metadata: { name }, spec: { namespaces } })

test('a namespace has the one Project that lists it', () => {
  const index = indexProjects([project('a', 'shop', 'both'), project('b', 'both'), project('c')])
  assert.equal(projectOf(index, 'shop').project?.metadata.name, 'a')
  assert.deepEqual(projectOf(index, 'none').refusal, {
    reason: 'NoProject',
    lines: [
      'Namespace none has no Project, so nothing of it is fetched, rendered or placed. Add it to one: flotilla project add NAME --namespace none',
    ],
  })
  assert.deepEqual(projectOf(index, 'both').refusal, {
    reason: 'SeveralProjects',
    lines: [
      'Namespace both is in spec.namespaces of several Projects (a, b), so it has none of them. Remove it from all but one.',
    ],
  })
  assert.deepEqual(contestedNamespaces(index, project('b', 'both')), ['both'])
})

test('property: a namespace has a Project exactly when one Project lists it, in any order', () => {
  const lists = fc.array(fc.subarray(['p', 'q', 'r']), { maxLength: 4 })
  fc.assert(
    fc.property(lists, (all) => {
      const projects = all.map((namespaces, index) => project(`project-${index}`, ...namespaces))
      for (const namespace of ['p', 'q', 'r']) {
        const listing = projects.filter(({ spec }) => spec.namespaces?.includes(namespace))
        for (const order of [projects, projects.toReversed()]) {
          const found = projectOf(indexProjects(order), namespace)
          assert.equal(found.project, listing.length === 1 ? listing[0] : undefined)
          assert.equal(found.refusal?.reason, ['NoProject', undefined, 'SeveralProjects'][Math.min(listing.length, 2)])
        }
      }
    }),
  )
})
