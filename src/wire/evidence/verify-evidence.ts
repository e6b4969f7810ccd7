/**
 * Verifies an evidence file without a hub: from the root key to the trust bundles, from their signers to the documents,
 * from the documents to the identity key of the cluster, from that key to its reports. All lines are read three times,
 * because a trust bundle may come after the documents it vouches for, and a document after reports about it.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import { checkValue, WireError } from '../validate.ts'
import { createLineCount, EvidenceEnd, EvidenceGap, EvidenceHeader } from './evidence-file.ts'
import { createDocumentVerifier, createTrustVerifier } from './verify-documents.ts'
import { createReportVerifier } from './verify-reports.ts'
import type { VerifiedReceipt } from './verify-reports.ts'

/** What a file proves, and what it does not. Sentences have no full stop. */
export interface EvidenceResult {
  /** Name of the cluster, as the hub exported it. No signature covers the name. */
  readonly cluster: string
  /** IDs of the clusters with this name: a cluster that joins again has a new ID. */
  readonly clusterIds: readonly string[]
  readonly root: Digest
  readonly trustVersions: readonly number[]
  readonly documents: readonly { readonly epoch: number; readonly revision: number; readonly digest: Digest }[]
  /** Verified reports: how many, and the first and last signed time, by the hub's clock as the agents know it. */
  readonly reports: { readonly count: number; readonly from: string | undefined; readonly to: string | undefined }
  readonly receipts: readonly VerifiedReceipt[]
  readonly identityKeys: readonly Digest[]
  /** Reports of agents that do not sign. */
  readonly unsigned: number
  readonly missing: readonly string[]
  /** Signed reports whose key no document confirms, and unsigned reports of a cluster that signs. */
  readonly unproven: readonly string[]
  /** Signatures, digests and chains that do not match. */
  readonly tampered: readonly string[]
}

/** The passes over a file. */
export const EVIDENCE_PASSES = ['trust', 'documents', 'reports'] as const
export type EvidencePass = (typeof EVIDENCE_PASSES)[number]

/** The most sentences of a kind; more are counted. */
const MAX_SENTENCES = 100
/** A report, its document or all trust bundles, with what JSON adds to them. */
const MAX_LINE_CHARS = 32 * 1024 * 1024

export function createEvidenceVerifier(root: Digest) {
  const trust = createTrustVerifier(root)
  const documents = createDocumentVerifier(trust.signers)
  const reports = createReportVerifier(root, documents)
  const count = createLineCount()
  const gaps: string[] = []
  const tampered: string[] = []
  let header: EvidenceHeader | undefined
  let end: EvidenceEnd | undefined
  let expected: EvidenceEnd | undefined

  function readTrustPass(type: unknown, value: unknown, text: string, line: number): void {
    if (end) throw new WireError('Malformed', 'the file goes on after its end')
    if (type === 'end') {
      end = checkValue(EvidenceEnd, value, 'end')
      expected = count.end()
      return
    }
    count.add(text)
    if (line === 1) header = checkValue(EvidenceHeader, value, 'header')
    else if (type === 'trust') trust.read(value)
    else if (!['document', 'report', 'gap'].includes(String(type)))
      throw new WireError('Malformed', `unknown type ${JSON.stringify(type ?? null)}`)
  }

  function readLine(pass: EvidencePass, text: string, line: number): void {
    const value = parseLine(text, line)
    const type = isObject(value) ? value['type'] : undefined
    if (pass === 'trust') return readTrustPass(type, value, text, line)
    if (pass === 'documents' && type === 'document') {
      checkName('document', value)
      documents.read(value)
    } else if (pass === 'reports' && type === 'report') {
      checkName('report', value)
      reports.read(value)
    } else if (pass === 'reports' && type === 'gap') {
      gaps.push(checkValue(EvidenceGap, value, 'gap').message)
    }
  }

  function checkName(what: string, value: unknown): void {
    const cluster = isObject(value) ? value['cluster'] : undefined
    if (cluster !== header?.cluster)
      throw new WireError('Malformed', `${what} is of cluster ${JSON.stringify(cluster ?? null)}`)
  }

  return {
    /** Reads a line, counted from 1. All lines are read for each pass, in the order of `EVIDENCE_PASSES`. */
    read(pass: EvidencePass, text: string, line: number): void {
      try {
        readLine(pass, text, line)
      } catch (caught) {
        if (!(caught instanceof WireError)) throw caught
        tampered.push(`line ${line}: ${caught.message}`)
      }
    },
    finish(): EvidenceResult {
      const chain = documents.judge()
      const file: string[] = []
      if (!header) file.push('the file has no header of format flotilla.dev/evidence/v1')
      if (!end) file.push('the file is not complete: its last line is missing')
      else if (end.lines !== expected?.lines || end.digest !== expected.digest)
        file.push('lines of the file were changed, added or removed after the export')
      return {
        cluster: header?.cluster ?? '',
        root,
        trustVersions: trust.versions(),
        documents: documents.all(),
        ...reports.summary(),
        missing: limited([...gaps, ...chain.gaps, ...reports.missing()]),
        unproven: limited(reports.unproven()),
        tampered: limited([...file, ...tampered, ...chain.contradictions]),
      }
    },
  }
}

function parseLine(text: string, line: number): unknown {
  if (text.length > MAX_LINE_CHARS) throw new WireError('TooLarge', `line is longer than ${MAX_LINE_CHARS} characters`)
  try {
    return JSON.parse(text)
  } catch {
    throw new WireError('Malformed', line === 1 ? 'the file is not evidence: its first line is not JSON' : 'not JSON')
  }
}

function limited(sentences: readonly string[]): readonly string[] {
  if (sentences.length <= MAX_SENTENCES) return sentences
  return [...sentences.slice(0, MAX_SENTENCES), `and ${sentences.length - MAX_SENTENCES} more`]
}
