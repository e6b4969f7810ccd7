/** How large messages on the wire may be. What is larger is refused before it is parsed. */
export const LIMITS = {
  /** An enrol or renew request. */
  requestBytes: 64 * 1024,
  /** A report of 500 bundles with messages of this length. */
  reportBytes: 4 * 1024 * 1024,
  /** The signed statement beside a report, in a header. */
  statementBytes: 4 * 1024,
  /** A signed document. */
  documentBytes: 4 * 1024 * 1024,
  /** A blob: a set or an object. */
  blobBytes: 64 * 1024 * 1024,
  /**
   * What one pack of a set holds when it is unpacked: a budget for the hub, and the most an agent believes (one
   * object may be over the budget).
   */
  packBudgetBytes: 8 * 1024 * 1024,
  packBytes: 256 * 1024 * 1024,
  /** The answer with all versions of the trust bundle that an agent lacks. */
  trustBytes: 4 * 1024 * 1024,
  /** A line of a follow stream. */
  frameBytes: 16 * 1024,
  /** All remaining answers. */
  answerBytes: 256 * 1024,
  /** Entries of a document, rows of a report. */
  bundles: 500,
  /** Windows and freezes of a document. */
  windows: 64,
  /** Decisions about drift of a document. */
  driftRules: 256,
  /** Objects of a set. */
  setObjects: 100_000,
  /** A message in a report; the kind allows four times as much. */
  messageChars: 1024,
  /** Drifted objects, and values, that a row of a report tells. */
  rowDetails: 20,
  /** Objects with a state of their own in a report, and their size together. */
  reportObjects: 200,
  reportObjectBytes: 64 * 1024,
  /** Observations of single objects in a report, and of an entry. */
  feedbackBytes: 256 * 1024,
  feedbackObjects: 5000,
  /** Results of checks in a report, their messages and objects together, and the objects of a result. */
  checks: 2000,
  checkBytes: 256 * 1024,
  checkObjects: 20,
  /** Results of policy engines in a report, with their policies and namespaces. */
  resultBytes: 128 * 1024,
  resultPolicies: 500,
  resultNamespaces: 200,
  resultObjects: 5,
  /** Lines of the agent's own log in a report, sent only on request. */
  logLines: 100,
  logLineChars: 400,
  /** Receipts of removals that an agent keeps, newest first. */
  receipts: 32,
  /** Claims of a cluster, as the kind allows. */
  claims: 64,
  claimNameChars: 253,
  claimValueChars: 1024,
  /** Ancestors a document names, so that an agent that missed some can tell its own past from another. */
  ancestors: 64,
  /** Trust bundles in an answer; an agent asks again for the rest. */
  trustVersions: 32,
} as const
