import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeApprovals } from './approvals.ts'
import type { ApprovalFact, ApprovalNeed, ApprovalVerdict } from './approvals.ts'

let made = 0
const word = (author: string, more: Partial<ApprovalFact> = {}): ApprovalFact => ({
  name: `a${++made}`,
  at: '2026-11-16T10:00:00Z',
  ring: 'rest',
  plan: 'careful',
  decision: 'Approve',
  author,
  ...more,
})
const CONTEXT = { ring: 'rest', plan: 'careful', createdAt: Date.UTC(2026, 10, 16, 9) }

function tell(verdict: ApprovalVerdict): string {
  if (verdict.kind === 'Approved') return `approved ${verdict.by.map(({ author }) => author).join(' ')}`
  return verdict.kind === 'Rejected' ? `rejected ${verdict.by.author}` : `needs ${verdict.sentence}`
}

type Case = readonly [
  title: string,
  need: ApprovalNeed,
  said: readonly ApprovalFact[],
  expected: string,
  startedBy?: readonly string[],
]

const CASES: readonly Case[] = [
  ['no approval', { count: 1 }, [], 'needs one person'],
  ['one is enough', { count: 1 }, [word('ana')], 'approved ana'],
  ['two words of one person are one', { count: 2 }, [word('ana'), word('ana')], 'needs 2 different people'],
  ['two people', { count: 2 }, [word('ana'), word('ben')], 'approved ana ben'],
  ['another ring', { count: 1 }, [word('ana', { ring: 'canary' })], 'needs one person'],
  ['a right checked on another plan', { count: 1 }, [word('ana', { plan: 'lax' })], 'needs one person'],
  ['a word about an older Rollout', { count: 1 }, [word('ana', { at: '2026-11-16T08:59:59Z' })], 'needs one person'],
  ['one Reject holds', { count: 1 }, [word('ana'), word('ben', { decision: 'Reject' })], 'rejected ben'],
  [
    'the newest word of an author counts',
    { count: 1 },
    [word('ana', { decision: 'Reject' }), word('ana', { at: '2026-11-16T10:00:01Z' })],
    'approved ana',
  ],
  ['in one second the Reject', { count: 1 }, [word('ana', { decision: 'Reject' }), word('ana')], 'rejected ana'],
  [
    'only members of the groups',
    { count: 1, groups: ['ops', 'leads'] },
    [word('ana'), word('ben', { groups: ['dev'] })],
    'needs one person of group ops or group leads',
  ],
  ['a member', { count: 1, groups: ['ops'] }, [word('ana', { groups: ['dev', 'ops'] })], 'approved ana'],
  [
    'a Reject of a person outside the groups is an opinion',
    { count: 1, groups: ['ops'] },
    [word('ana', { groups: ['ops'] }), word('ben', { decision: 'Reject' })],
    'approved ana',
  ],
  [
    'who started it does not count',
    { count: 1, noSelfApproval: true },
    [word('ana')],
    'needs one person other than ana, who started the rollout',
    ['ana'],
  ],
  ['but another person does', { count: 1, noSelfApproval: true }, [word('ana'), word('ben')], 'approved ben', ['ana']],
  [
    'an unknown author may be one of them',
    { count: 1, noSelfApproval: true },
    [word('ana')],
    'needs 2 different people (1 more than configured, because the rollout started automatically and one of them can be the author)',
  ],
  ['so one more is enough', { count: 1, noSelfApproval: true }, [word('ana'), word('ben')], 'approved ana ben'],
]

for (const [title, need, said, expected, startedBy] of CASES) {
  test(`approvals: ${title}`, () => {
    assert.equal(tell(judgeApprovals(need, said, { ...CONTEXT, ...(startedBy ? { startedBy } : {}) })), expected)
  })
}
