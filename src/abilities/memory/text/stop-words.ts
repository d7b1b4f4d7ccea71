/** Words that stand in nearly every English sentence: they would match everything and say nothing. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be because been before being but by can could did do does doing don
  down during each few for from further had has have having he her here hers herself him himself his how i if in into is it
  its itself just ll me more most my myself no nor not now of off on once only or other our ours out over own re s same she
  should so some such t than that the their theirs them then there these they this those through to too under until up ve
  very was we were what when where which while who whom why will with would you your yours yourself
  m d aren couldn didn doesn hadn hasn haven isn mustn shouldn wasn weren won wouldn`.split(/\s+/),
);
