/* A library that calls a function which no library has, if anybody calls it: bound at the start, it would end the program. */
void nobody_has_this(void);
void never_called(void);

void never_called(void)
{
    nobody_has_this();
}
