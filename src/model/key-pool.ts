/** Something that can be asked with several keys of one provider. */
export interface Pooled<Member> {
  /** The same model with further keys. They are asked in its place where the account is empty, limited or its key is refused. */
  readonly keys?: readonly Member[];
  /** It is one of the further keys of the model before it in a chain. */
  readonly isNextKey?: true;
}

/** The first key's model with those of the others. Plain where there are none. */
export function asPool<Member extends Pooled<Member>>(first: Member, rest: readonly Member[]): Member {
  if (rest.length === 0) return first;
  return { ...first, keys: rest.map((member) => ({ ...member, isNextKey: true as const })) };
}

/** The chain with the further keys of each model behind it. */
export function withKeys<Member extends Pooled<Member>>(chain: readonly Member[]): readonly Member[] {
  return chain.flatMap((member) => [member, ...(member.keys ?? [])]);
}
