import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RepositoryEvent } from '../../../source/webhook/repository-event.ts'
import { concernsSet } from './concerned-sets.ts'

describe('sets', () => {
  const event: RepositoryEvent = {
    kind: 'PullRequest',
    url: 'https://x',
    ref: '',
    defaultBranch: '',
    names: ['Acme/Apps', '7', ''],
  }
  const cases: [unknown, boolean][] = [
    [[{ pullRequest: { github: { owner: 'acme', repo: 'apps' } } }], true],
    [[{ matrix: { generators: [{ list: {} }, { pullRequest: { gitea: { owner: 'acme', repo: 'apps' } } }] } }], true],
    [[{ pullRequest: { gitlab: { project: '7' } } }], true],
    [[{ pullRequest: { gitlab: { project: 7 } } }], true],
    [[{ pullRequest: { github: { owner: 'acme', repo: 'other' } } }], false],
    [[{ git: { repoURL: 'https://x' } }], false],
    [undefined, false],
  ]
  for (const [generators, expected] of cases) {
    it(JSON.stringify(generators) ?? 'no generators', () => assert.equal(concernsSet(generators, event), expected))
  }
})
