import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { concernsSource, isSameRepository, readEvent, webhookSender } from './repository-event.ts'
import type { RepositoryEvent } from './repository-event.ts'

const REPOSITORY = { html_url: 'https://git.example/acme/apps', full_name: 'acme/apps', default_branch: 'main' }

function read(headers: Record<string, string>, body: unknown): RepositoryEvent | undefined {
  const sender = webhookSender(headers)
  assert.ok(sender)
  return readEvent(sender, headers, body)
}

describe('webhooks', () => {
  it('name their sender by headers; Gitea sends those of GitHub, too', () => {
    const senders: [Record<string, string>, string | undefined][] = [
      [{ 'x-github-event': 'push' }, 'GitHub'],
      [{ 'x-gitlab-event': 'Push Hook' }, 'GitLab'],
      [{ 'x-github-event': 'push', 'x-gitea-event': 'push' }, 'Gitea'],
      [{ 'x-github-event': 'push', 'x-gogs-event': 'push' }, 'Gitea'],
      [{ 'x-event-key': 'repo:push' }, undefined],
    ]
    for (const [headers, sender] of senders) assert.equal(webhookSender(headers), sender)
  })

  it('of GitHub and Gitea have the repository and the ref', () => {
    const body = { ref: 'refs/heads/main', repository: REPOSITORY }
    const expected = {
      kind: 'Push',
      url: 'https://git.example/acme/apps',
      ref: 'refs/heads/main',
      defaultBranch: 'main',
      names: ['acme/apps'],
    }
    assert.deepEqual(read({ 'x-github-event': 'push' }, body), expected)
    assert.deepEqual(read({ 'x-gitea-event': 'push' }, body), expected)
    const pull = { action: 'opened', repository: REPOSITORY }
    assert.deepEqual(read({ 'x-github-event': 'pull_request' }, pull), { ...expected, kind: 'PullRequest', ref: '' })
    assert.equal(read({ 'x-github-event': 'ping' }, body), undefined)
    for (const odd of [null, [], 'x', {}, { repository: 1 }, { repository: { html_url: 1 } }]) {
      assert.equal(read({ 'x-github-event': 'push' }, odd), undefined)
    }
  })

  it('of GitLab have the project, in hooks of projects and of the system', () => {
    const project = {
      id: 7,
      web_url: 'https://gitlab.example/g/sub/p',
      path_with_namespace: 'g/sub/p',
      default_branch: 'main',
    }
    const push = read({ 'x-gitlab-event': 'Push Hook' }, { object_kind: 'push', ref: 'refs/heads/x', project })
    assert.deepEqual(
      [push?.kind, push?.url, push?.ref, push?.names],
      ['Push', project.web_url, 'refs/heads/x', ['g/sub/p', '7']],
    )
    const system = read({ 'x-gitlab-event': 'System Hook' }, { event_name: 'tag_push', ref: 'refs/tags/v1', project })
    assert.equal(system?.ref, 'refs/tags/v1')
    assert.equal(read({ 'x-gitlab-event': 'x' }, { object_kind: 'merge_request', project })?.kind, 'PullRequest')
    assert.equal(read({ 'x-gitlab-event': 'x' }, { object_kind: 'issue', project }), undefined)
  })
})

describe('repositories', () => {
  const same: [string, boolean][] = [
    ['https://git.example/acme/apps.git', true],
    ['https://git.example/acme/apps/', true],
    ['https://bot:secret@GIT.example/Acme/apps', true],
    ['git@git.example:acme/apps.git', true],
    ['ssh://git@git.example:7999/acme/apps.git', true],
    ['https://git.example:8443/acme/apps', true],
    ['https://git.example/acme/apps-other', false],
    ['https://git.example/acme', false],
    ['https://other.example/acme/apps', false],
    ['https://git.example.evil/acme/apps', false],
    ['', false],
    ['apps', false],
    [`https://git.example/acme/apps${'/'.repeat(3_000_000)}?`, false],
    [`https://git.example/acme/apps${'/'.repeat(4000)}`, false],
  ]
  for (const [address, expected] of same) {
    it(`${address.slice(0, 60)} is ${expected ? '' : 'not '}the repository`, () =>
      assert.equal(isSameRepository(address, 'https://git.example/acme/apps'), expected))
  }

  it('are fetched only for a ref that can change what a Source has', () => {
    const url = 'https://git.example/acme/apps.git'
    const event = (ref: string, defaultBranch = 'main'): RepositoryEvent => ({
      kind: 'Push',
      url: 'https://git.example/acme/apps',
      ref,
      defaultBranch,
      names: [],
    })
    const main = event('refs/heads/main')
    const tag = event('refs/tags/v1.2.3')
    const cases: [object | undefined, RepositoryEvent, boolean][] = [
      [undefined, main, true],
      [undefined, event('refs/heads/dev'), false],
      [undefined, event('refs/heads/dev', ''), true],
      [{ branch: 'main' }, main, true],
      [{ branch: 'feature/a' }, event('refs/heads/feature/a'), true],
      [{ branch: 'dev' }, main, false],
      [{ branch: 'v1.2.3' }, tag, false],
      [{ tag: 'v1.2.3' }, tag, true],
      [{ tag: 'v1.2.4' }, tag, false],
      [{ tag: 'main' }, main, false],
      [{ semver: '1.x' }, tag, true],
      [{ semver: '1.x' }, main, false],
      [{ commit: 'a'.repeat(40) }, main, false],
    ]
    for (const [ref, pushed, expected] of cases) {
      const git = { url, ...(ref && { ref }) } as NonNullable<Parameters<typeof concernsSource>[0]['git']>
      assert.equal(concernsSource({ git }, pushed), expected, JSON.stringify([ref, pushed.ref]))
    }
    assert.equal(concernsSource({}, main), false)
  })
})
