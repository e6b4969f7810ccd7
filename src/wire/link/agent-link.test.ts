import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { initialLink, linkAction, linkTransition } from './agent-link.ts'
import type { LinkEvent, LinkState } from './agent-link.ts'

const NOW = 1_000_000
const context = { now: NOW, fraction: 0 }
const facts = { clusterId: 'c-1', failures: 2 }

const STATES: Record<LinkState['at'], LinkState> = {
  Unenrolled: { at: 'Unenrolled', failures: 2 },
  Pending: { at: 'Pending', ...facts },
  Certifying: { at: 'Certifying', ...facts },
  Connecting: { at: 'Connecting', ...facts, renewAt: 5 },
  Following: { at: 'Following', ...facts, renewAt: 5, openedAt: NOW - 60_000, lastFrameAt: NOW - 10 },
  Backoff: { at: 'Backoff', ...facts, resume: 'Certifying', until: NOW, why: 'x' },
  Refused: { at: 'Refused', ...facts, resume: 'Pending', until: NOW + 1, why: 'x' },
}

const EVENTS: Record<LinkEvent['type'], LinkEvent> = {
  Pending: { type: 'Pending', clusterId: 'c-1', retryAfterMs: 5000 },
  Accepted: { type: 'Accepted', clusterId: 'c-1' },
  Certified: { type: 'Certified', renewAt: 9 },
  Opened: { type: 'Opened' },
  Frame: { type: 'Frame' },
  Stuck: { type: 'Stuck' },
  Ended: { type: 'Ended' },
  Failed: { type: 'Failed', why: 'down' },
  Expired: { type: 'Expired', why: 'certificate expired' },
  Refused: { type: 'Refused', why: 'name taken' },
  RenewalAsked: { type: 'RenewalAsked' },
  Waited: { type: 'Waited' },
}

// Total: every event in every state. `=` means the state stays as it is; `A>B` means waiting in A, then B.
const TABLE: Record<LinkState['at'], Record<LinkEvent['type'], string>> = {
  Unenrolled: {
    Pending: 'Backoff>Pending',
    Accepted: 'Certifying',
    Certified: 'Connecting',
    Opened: '=',
    Frame: '=',
    Stuck: '=',
    Ended: '=',
    Failed: 'Backoff>Unenrolled',
    Expired: '=',
    Refused: 'Refused>Unenrolled',
    RenewalAsked: '=',
    Waited: '=',
  },
  Pending: {
    Pending: 'Backoff>Pending',
    Accepted: 'Certifying',
    Certified: 'Connecting',
    Opened: '=',
    Frame: '=',
    Stuck: '=',
    Ended: '=',
    Failed: 'Backoff>Pending',
    Expired: '=',
    Refused: 'Refused>Pending',
    RenewalAsked: '=',
    Waited: '=',
  },
  Certifying: {
    Pending: 'Backoff>Pending',
    Accepted: 'Certifying',
    Certified: 'Connecting',
    Opened: '=',
    Frame: '=',
    Stuck: '=',
    Ended: '=',
    Failed: 'Backoff>Certifying',
    Expired: '=',
    Refused: 'Refused>Certifying',
    RenewalAsked: '=',
    Waited: '=',
  },
  Connecting: {
    Pending: '=',
    Accepted: '=',
    Certified: 'Connecting',
    Opened: 'Following',
    Frame: '=',
    Stuck: 'Backoff>Connecting',
    Ended: '=',
    Failed: 'Backoff>Connecting',
    Expired: 'Backoff>Certifying',
    Refused: 'Refused>Connecting',
    RenewalAsked: 'Connecting',
    Waited: '=',
  },
  Following: {
    Pending: '=',
    Accepted: '=',
    Certified: 'Following',
    Opened: '=',
    Frame: 'Following',
    Stuck: 'Backoff>Connecting',
    Ended: 'Connecting',
    Failed: 'Backoff>Connecting',
    Expired: 'Backoff>Certifying',
    Refused: 'Refused>Connecting',
    RenewalAsked: 'Following',
    Waited: '=',
  },
  Backoff: {
    Pending: 'Backoff>Pending',
    Accepted: 'Certifying',
    Certified: 'Connecting',
    Opened: '=',
    Frame: '=',
    Stuck: '=',
    Ended: '=',
    Failed: 'Backoff>Certifying',
    Expired: '=',
    Refused: 'Refused>Certifying',
    RenewalAsked: '=',
    Waited: 'Certifying',
  },
  Refused: {
    Pending: 'Backoff>Pending',
    Accepted: 'Certifying',
    Certified: 'Connecting',
    Opened: '=',
    Frame: '=',
    Stuck: '=',
    Ended: '=',
    Failed: 'Backoff>Pending',
    Expired: '=',
    Refused: 'Refused>Pending',
    RenewalAsked: '=',
    Waited: '=', // not yet: its time is one millisecond away
  },
}

function show(state: LinkState): string {
  return state.at === 'Backoff' || state.at === 'Refused' ? `${state.at}>${state.resume}` : state.at
}

describe('the link of an agent', () => {
  for (const [at, state] of Object.entries(STATES)) {
    for (const [type, event] of Object.entries(EVENTS)) {
      const expected = TABLE[at as LinkState['at']][type as LinkEvent['type']]
      it(`${at} + ${type} → ${expected}`, () => {
        const next = linkTransition(state, event, context)
        if (expected === '=') assert.equal(next, state)
        else assert.equal(show(next), expected)
      })
    }
  }

  it('does what each state asks for', () => {
    const actions = Object.fromEntries(Object.entries(STATES).map(([at, state]) => [at, linkAction(state, 4).do]))
    assert.deepEqual(actions, {
      Unenrolled: 'Enrol',
      Pending: 'Enrol',
      Certifying: 'Enrol',
      Connecting: 'Follow',
      Following: 'Follow',
      Backoff: 'Wait',
      Refused: 'Wait',
    })
    // An old certificate, also an expired one, is renewed before anything else.
    assert.deepEqual(linkAction(STATES.Connecting, 5), { do: 'Renew' })
  })

  it('waits longer after each failure, never beyond a minute, and obeys the hub', () => {
    let state: LinkState = initialLink({})
    const waits: number[] = []
    for (let i = 0; i < 9; i++) {
      state = linkTransition(state, EVENTS.Failed, context)
      waits.push(state.at === 'Backoff' ? state.until - NOW : -1)
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    const asked = linkTransition(initialLink({}), { type: 'Failed', why: 'busy', retryAfterMs: 90_000 }, context)
    assert.equal(asked.at === 'Backoff' && asked.until, NOW + 90_000)
  })

  it('asks instead when streams stay silent, and tries a stream again after a while', () => {
    const by = (state: LinkState) => {
      const action = linkAction(state, 4)
      return action.do === 'Follow' ? action.by : action.do
    }
    const retry = (state: LinkState) => linkTransition(state, EVENTS.Waited, { ...context, now: NOW + 120_000 })
    let state = retry(linkTransition(STATES.Connecting, EVENTS.Stuck, context))
    assert.equal(by(state), 'Stream')
    // One that works in between clears it.
    const worked = linkTransition(linkTransition(state, EVENTS.Opened, context), EVENTS.Frame, context)
    assert.equal(by(retry(linkTransition(worked, EVENTS.Stuck, context))), 'Stream')
    state = retry(linkTransition(state, EVENTS.Stuck, context))
    assert.equal(by(state), 'Poll')
    state = linkTransition(linkTransition(state, EVENTS.Opened, context), EVENTS.Frame, context)
    assert.equal(by(state), 'Poll', 'an answer is no stream')
    assert.equal(by(retry(linkTransition(state, EVENTS.Failed, context))), 'Poll')
    assert.equal(by(linkTransition(state, EVENTS.Ended, { ...context, now: NOW + 60_000 })), 'Stream')
  })

  it('forgets failures only after a stream that lived', () => {
    const opened = linkTransition(STATES.Connecting, EVENTS.Opened, context)
    const early = linkTransition(opened, EVENTS.Frame, { ...context, now: NOW + 1000 })
    assert.equal(early.failures, 2)
    assert.equal(linkTransition(early, EVENTS.Frame, { ...context, now: NOW + 30_000 }).failures, 0)
  })

  it('waits when the hub hangs up at once', () => {
    const opened = linkTransition(STATES.Connecting, EVENTS.Opened, context)
    assert.equal(show(linkTransition(opened, EVENTS.Ended, context)), 'Backoff>Connecting')
    assert.equal(show(linkTransition(opened, EVENTS.Ended, { ...context, now: NOW + 30_000 })), 'Connecting')
  })

  it('renews with the identity key when the certificate is no longer taken', () => {
    const waiting = linkTransition(STATES.Following, EVENTS.Expired, context)
    const over = linkTransition(waiting, EVENTS.Waited, { ...context, now: NOW + 60_000 })
    assert.deepEqual(linkAction(over, 0), { do: 'Renew' })
  })

  it('renews when it is asked to, whatever its certificate says', () => {
    const asked = linkTransition(STATES.Following, EVENTS.RenewalAsked, context)
    assert.equal(asked.at, 'Following', 'the stream itself goes on until it is ended')
    assert.deepEqual(linkAction(linkTransition(asked, EVENTS.Ended, context), 0), { do: 'Renew' })
    assert.equal(linkTransition(STATES.Pending, EVENTS.RenewalAsked, context).renewAt, undefined)
  })

  it('starts from what is on disk', () => {
    assert.equal(initialLink({}).at, 'Unenrolled')
    assert.equal(initialLink({ clusterId: 'c-1' }).at, 'Pending')
    assert.equal(initialLink({ clusterId: 'c-1', renewAt: 1 }).at, 'Connecting')
  })
})
